-- +goose Up

-- The computing time of a token has that of all its finished results, also of those whose files are
-- still there. Until now these counted only once their files were deleted.
INSERT INTO token_use (tokenid, day, cpu_time, elapsed_time, expected_time)
SELECT w.tokenid, r.received_time / 86400 AS day, sum(CASE WHEN r.cpu_time > 1000 * r.elapsed_time THEN 1000 * r.elapsed_time ELSE r.cpu_time END),
       sum(r.elapsed_time),
       sum(CASE WHEN r.flops_estimate > w.rsc_fpops_est THEN 1 WHEN r.flops_estimate > 0 THEN w.rsc_fpops_est / r.flops_estimate ELSE r.elapsed_time END)
FROM   result r JOIN workunit w ON w.id = r.workunitid
WHERE  r.batch > 1000000000 AND w.tokenid <> 0 AND r.file_delete_state = 0 AND r.cpu_time > 0
  AND  (r.validate_state <> 0 OR r.server_state = 5 AND r.outcome <> 1)
GROUP  BY 1, 2
ON CONFLICT (tokenid, day) DO UPDATE SET cpu_time = token_use.cpu_time + excluded.cpu_time,
       elapsed_time = token_use.elapsed_time + excluded.elapsed_time, expected_time = token_use.expected_time + excluded.expected_time;
