#!/bin/sh
# A client for BOINC's protocol that fetches one task, copies its input to its output, and reports it.
# usage: client.sh URL AUTHENTICATOR
set -eu
url=$1 key=$2 host=0 seq=0
dir=$(mktemp -d)
trap 'rm -rf "$dir"' EXIT

# tag NAME FILE: the first <NAME> in a file; all NAME FILE: all of them, one a line
all() { sed -n "s|.*<$1>\(.*\)</$1>.*|\1|p" "$2"; }
tag() { all "$1" "$2" | head -n 1; }

# part NAME FILE TEXT: the first element <NAME> in a file in which a text stands
part() {
	sed -n "/<$1>/,/<\/$1>/p" "$2" | awk -v end="</$1>" -v text="$3" '
		{ element = element $0 "\n" }
		index($0, end) { if (index(element, text)) { printf "%s", element; exit } element = "" }'
}

# ask SECONDS REPORT: a scheduler request for so much work, with a result that is reported
ask() {
	seq=$((seq + 1))
	cat <<-END | curl -sSf --data-binary @- -o "$dir/reply" "$scheduler"
		<scheduler_request>
		<authenticator>$key</authenticator>
		<hostid>$host</hostid>
		<rpc_seqno>$seq</rpc_seqno>
		<core_client_major_version>8</core_client_major_version>
		<core_client_minor_version>0</core_client_minor_version>
		<core_client_release>0</core_client_release>
		<platform_name>x86_64-pc-linux-gnu</platform_name>
		<work_req_seconds>$1</work_req_seconds>
		<host_info>
		<p_ncpus>1</p_ncpus><p_fpops>1e9</p_fpops><m_nbytes>8e9</m_nbytes><d_total>1e12</d_total><d_free>1e11</d_free>
		</host_info>
		$2
		</scheduler_request>
	END
	if grep -q '<hostid>' "$dir/reply"; then host=$(tag hostid "$dir/reply"); fi
}

curl -sSf -o "$dir/master" "$url"
scheduler=$(tag scheduler "$dir/master")
ask 1 ""
part result "$dir/reply" "<wu_name>" >"$dir/result"
result=$(tag name "$dir/result")
if [ -z "$result" ]; then
	echo "no work: $(all message "$dir/reply")" >&2
	exit 1
fi
output=$(tag file_name "$dir/result")
part workunit "$dir/reply" "<name>$(tag wu_name "$dir/result")</name>" >"$dir/workunit"
part file_info "$dir/reply" "<name>$(tag file_name "$dir/workunit")</name>" >"$dir/in_info"
curl -sSf -o "$dir/in" "$(tag url "$dir/in_info")"
[ "$(md5sum <"$dir/in" | cut -c 1-32)" = "$(tag md5_cksum "$dir/in_info")" ]
cp "$dir/in" "$dir/out"

part file_info "$dir/reply" "<name>$output</name>" >"$dir/out_info"
{
	echo "<data_server_request>"
	echo "<file_upload>"
	grep -v -e '<url>' -e '<generated_locally/>' -e '<upload_when_present/>' "$dir/out_info"
	echo "<nbytes>$(wc -c <"$dir/out" | tr -d ' ')</nbytes>"
	echo "<md5_cksum>$(md5sum <"$dir/out" | cut -c 1-32)</md5_cksum>"
	echo "<offset>0</offset>"
	echo "<data>"
	cat "$dir/out"
} | curl -sSf --data-binary @- -o "$dir/uploaded" "$(tag url "$dir/out_info")"
grep -q '<status>0</status>' "$dir/uploaded"

ask 0 "<result><name>$result</name><state>5</state><exit_status>0</exit_status><final_cpu_time>1</final_cpu_time></result>"
grep -A 1 '<result_ack>' "$dir/reply" | grep -q "<name>$result</name>"
echo "$result: $(cat "$dir/out")"
