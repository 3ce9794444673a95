package store

import (
	"encoding/binary"
	"fmt"
	"hash/fnv"
	"math"
	"time"

	"github.com/starling-grid/starling/server/db"
)

// A Candidate is an Unsent result that a scheduler may think of sending.
type Candidate struct {
	ID             int64         `db:"r.id"`
	Name           string        `db:"r.name"`
	XMLDocIn       string        `db:"r.xml_doc_in"` // as in Result
	WorkunitID     int64         `db:"r.workunitid"`
	WorkunitName   string        `db:"w.name"`
	XMLDoc         string        `db:"w.xml_doc"` // as in Workunit
	AppID          int64         `db:"r.appid"`
	Priority       int64         `db:"r.priority"`
	CreateTime     time.Time     `db:"r.create_time"`
	RscFpopsEst    float64       `db:"w.rsc_fpops_est"`
	RscMemoryBound float64       `db:"w.rsc_memory_bound"`
	RscDiskBound   float64       `db:"w.rsc_disk_bound"`
	DelayBound     time.Duration `db:"w.delay_bound"`
	HRClass        int64         `db:"w.hr_class"` // class of hosts to which the workunit is committed (0: none yet)
	AppVersionID   int64         `db:"w.app_version_id"`
	Target         Target        `db:"w.target_"`
	LastChance     bool          `db:"w.last_chance"` // one more failure gives the workunit up
	Suspicious     bool          `db:"w.suspicious"`  // only computers of trusted accounts may have it
	TokenID        int64         `db:"w.tokenid"`
	OwnPriority    int64         `db:"w.own_priority"` // as in Workunit

	Batch             int64     `db:"w.batch"` // of the workunit
	RscBandwidthBound float64   `db:"w.rsc_bandwidth_bound"`
	ReservedUntil     time.Time `db:"w.reserved_until"` // only the hosts of KeptFor may have it before
}

var candidateColumns = db.ColumnsOf[Candidate]()

// stillNeeded is true of workunits that still need results. The transitioner clears away the
// results of others.
const stillNeeded = `w.error_mask = 0 AND w.canonical_resultid = 0 AND w.transitioner_flags = 0`

// Kind returns a number for the properties that decide which hosts may have a result of the
// workunit: its application, its commitment, whether it is on its last chance or suspicious, and its needs.
// Workunits of different tokens, or of different rank for their token, have different kinds, too, so that
// the work of one token does not hide the work of another.
// Workunits with different properties have different kinds. Memory, disk and bandwidth count to two
// digits, so that the numbers that most projects write are met exactly, and hosts just too small
// for all of a kind are rare. Operations and time differ from workunit to workunit, so they count
// by orders of magnitude. The kind is above 0 for workunits without a Target, and below 0 for
// others.
func (w Workunit) Kind() int64 {
	h := fnv.New64a()
	var b [8]byte
	facts := []int64{
		w.AppID, w.HRClass, w.AppVersionID, digits(w.RscMemoryBound), digits(w.RscDiskBound), digits(w.RscBandwidthBound),
		magnitude(w.RscFpopsEst), magnitude(w.DelayBound.Seconds()),
	}
	if w.LastChance { // other workunits keep the kinds that they had before there was LastChance
		facts = append(facts, 1)
	}
	if w.Suspicious { // likewise
		facts = append(facts, 2)
	}
	if w.TokenID != 0 {
		facts = append(facts, 3, w.TokenID, w.OwnPriority)
	}
	for _, x := range facts {
		binary.LittleEndian.PutUint64(b[:], uint64(x)) //nolint:gosec // any bits will do
		_, _ = h.Write(b[:])
	}
	k := int64(h.Sum64()>>1) | 1 // 63 bits, never 0
	if w.TokenID != 0 {          // the kinds of a token are side by side
		k = w.TokenID%(1<<15)<<ofToken | k&(1<<ofToken-1)
	}
	return w.Target.kind(k)
}

// ofToken is the number of bits of a kind in which the kinds of a token differ.
const ofToken = 48

// MostKinds is the maximum number of kinds of a token that are considered at a time. A submitter could
// make any number of them, and each costs every request.
const MostKinds = 200

// digits returns a number with the first two digits of a need and its power of ten.
func digits(x float64) int64 {
	if !(x > 0) || math.IsInf(x, 1) {
		return -1
	}
	power := math.Floor(math.Log10(x)) - 1
	return int64(power)*100 + int64(x/math.Pow(10, power)*(1+1e-12))
}

// AtLeast returns the least memory, disk or bandwidth that a workunit may need which is of one
// kind with another that needs x.
func AtLeast(x float64) float64 {
	if !(x > 0) || math.IsInf(x, 1) {
		return 0
	}
	power := math.Pow(10, math.Floor(math.Log10(x))-1)
	return math.Floor(x/power*(1+1e-12)) * power * (1 - 1e-12)
}

// magnitude is the order of magnitude of a need: values of one differ by less than a factor
// of two.
func magnitude(x float64) int64 {
	if !(x > 0) {
		return -2000
	}
	_, exp := math.Frexp(x)
	return int64(exp)
}

// AtLeastHalf is AtLeast for operations and times.
func AtLeastHalf(x float64) float64 {
	if !(x > 0) || math.IsInf(x, 1) {
		return 0
	}
	_, exp := math.Frexp(x)
	return math.Ldexp(0.5, exp)
}

// A Place is a place in the order in which results should be sent: by priority, then oldest first.
type Place struct{ Priority, ID int64 }

// Place returns where the candidate stands.
func (c *Candidate) Place() Place { return Place{c.Priority, c.ID} }

// Before reports whether p comes before q.
func (p Place) Before(q Place) bool {
	return p.Priority > q.Priority || p.Priority == q.Priority && p.ID < q.ID
}

// First comes before everything.
var First = Place{Priority: math.MaxInt64}

// Each kind is found by one look into the index, however many results it has. After a number of kinds whose
// upper bits are equal, the search skips the rest of these. n is the number of them up to before.
var unsentKinds = fmt.Sprintf(`
WITH RECURSIVE k(kind, before, n) AS (
	SELECT (SELECT kind FROM result WHERE server_state = 2 AND kind >= +$1 AND kind <= +$2 ORDER BY kind LIMIT 1), CAST(-1 AS BIGINT), 0
	UNION ALL
	SELECT (SELECT r.kind FROM result r WHERE r.server_state = 2 AND r.kind <= +$2
	        AND r.kind > CASE WHEN k.n + 1 >= $3 AND k.kind >> %[1]d = k.before >> %[1]d THEN k.kind | %[2]d ELSE k.kind END ORDER BY r.kind LIMIT 1),
	       k.kind, CASE WHEN k.kind >> %[1]d = k.before >> %[1]d THEN k.n + 1 ELSE 1 END
	FROM   k WHERE k.kind IS NOT NULL
)
SELECT kind FROM k WHERE kind IS NOT NULL`, ofToken, int64(1)<<ofToken-1)

// UnsentKinds returns the kinds of Unsent results without a Target.
func (t *View) UnsentKinds() ([]int64, error) {
	return all(t, scanID, unsentKinds, 0, int64(math.MaxInt64), math.MaxInt32)
}

// UnsentKinds asks for the kinds of View.UnsentKinds, of each token for MostKinds at most.
func UnsentKinds(found func(kind int64)) Question {
	return db.NewQuestion(scanID, found, unsentKinds, 0, int64(math.MaxInt64), MostKinds)
}

const inOrder = ` ORDER BY r.priority DESC, r.id LIMIT 0 + `

var (
	fromUnsent = `
SELECT ` + candidateColumns.List() + `
FROM   result r JOIN workunit w ON w.id = r.workunitid
WHERE  r.server_state = 2 AND r.kind = +$1 AND (r.priority < +$2 OR (r.priority = +$2 AND r.id > +$3)) AND ` + stillNeeded
	unsent   = fromUnsent + inOrder + `$4`
	unsentOf = fromUnsent + ` AND (r.id % $5 = $6) = ($7 = 1)` + inOrder + `$4`
	fits     = `
  AND  w.rsc_memory_bound <= $5 AND w.rsc_disk_bound <= $6 AND w.rsc_bandwidth_bound <= $7 AND w.reserved_until <= $8
  AND  $9 + w.rsc_fpops_est * $10 <= w.delay_bound
  AND  NOT EXISTS (SELECT 1 FROM result o WHERE o.workunitid = +r.workunitid AND (o.userid = +$11 OR o.hostid = +$12) AND ` + counts + `)
  AND  (r.priority < $13 OR r.create_time <= $14)`
	unsentFits   = fromUnsent + fits + inOrder + `$4`
	unsentFitsOf = fromUnsent + fits + ` AND (r.id % $15 = $16) = ($17 = 1)` + inOrder + `$4`
)

// A Slice is a part of the waiting results: the part of a shard, or the rest. The zero Slice is
// everything.
type Slice struct {
	Shard
	Others bool
}

// of chooses between the query for everything and that for a slice.
func (s Slice) of(whole, part string, args []any) (string, []any) {
	if s.Count <= 1 {
		return whole, args
	}
	return part, append(args, s.Count, s.Index, flag(!s.Others).Int())
}

// Unsent returns results of a kind and slice, of workunits that still need them, which come
// after a place, in order.
func (t *View) Unsent(kind int64, after Place, limit int, of Slice) ([]Candidate, error) {
	query, args := of.of(unsent, unsentOf, []any{kind, after.Priority, after.ID, limit})
	return all(t, candidateColumns.Scan, query, args...)
}

// A Fit describes the results that a host can compute, for UnsentFits.
type Fit struct {
	Memory, Disk, Bandwidth float64 // largest needs of results (+Inf: any)
	Now                     time.Time
	Wait, PerFlop           float64   // seconds until a result starts, and seconds for each operation (both 0: deadlines do not matter)
	Below                   int64     // results must have a lower priority (0: any)
	BelowSince              time.Time // results made up to then may have any
	UserID, HostID          int64     // that must not have had a result of the workunit, see HadByUser (0: any)
}

// UnsentFits is Unsent for the results that one host can compute.
func (t *View) UnsentFits(kind int64, after Place, f Fit, limit int, of Slice) ([]Candidate, error) {
	none := func(id int64) int64 { // results without a host have user and host 0
		if id == 0 {
			return -1
		}
		return id
	}
	below := f.Below
	if below == 0 {
		below = math.MaxInt64
	}
	query, args := of.of(unsentFits, unsentFitsOf, []any{
		kind, after.Priority, after.ID, limit,
		finite(f.Memory), finite(f.Disk), finite(f.Bandwidth), unix(f.Now), f.Wait, f.PerFlop, none(f.UserID), none(f.HostID), below, unix(f.BelowSince),
	})
	return all(t, candidateColumns.Scan, query, args...)
}

func finite(x float64) float64 { return min(x, math.MaxFloat64) }

var (
	unsorted  = `SELECT r.id, r.workunitid FROM result r WHERE r.server_state = 2 AND r.kind = 0 ORDER BY r.priority DESC, r.id LIMIT 0 + $1`
	setKind   = db.Update("result", "kind = $2")
	setKindOf = db.Change(`UPDATE result SET kind = $2 WHERE workunitid = $1 AND server_state = 2`)
)

// SortUnsent sets the kind of Unsent results without one, for example results in a database that
// was made before there were kinds. It returns their number, which is at most limit.
func (t *Tx) SortUnsent(limit int) (int, error) {
	var results, workunits []int64
	err := t.db.Query(unsorted, []any{limit}, func(r rows) error {
		var id, wu int64
		err := r.Scan(&id, &wu)
		results, workunits = append(results, id), append(workunits, wu)
		return err
	})
	if err != nil {
		return 0, err
	}
	wus, err := t.Workunits(workunits)
	if err != nil {
		return 0, err
	}
	for i, id := range results {
		if err := t.run(setKind, id, wus[workunits[i]].Kind()); err != nil {
			return i, err
		}
	}
	return len(results), nil
}
