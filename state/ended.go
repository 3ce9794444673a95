package state

import (
	"encoding/json"
	"fmt"
	"time"

	"go.etcd.io/bbolt"
)

// An EndedTask is the record of a result that has ended on this host. It remains when the result
// itself is deleted.
type EndedTask struct {
	Project     string `json:"project,omitzero"`      // master URL
	ProjectName string `json:"project_name,omitzero"` // the project's name at that time
	Name        string `json:"name,omitzero"`
	Workunit    string `json:"workunit,omitzero"`
	App         string `json:"app,omitzero"`
	VersionNum  int    `json:"version_num,omitzero"`
	PlanClass   string `json:"plan_class,omitzero"`

	Outcome    Outcome `json:"outcome,omitzero"`
	By         Actor   `json:"by,omitzero"`          // who aborted it, or "" unless Outcome is TaskAborted
	Code       string  `json:"code,omitzero"`        // of its failure, or "" if it finished
	About      string  `json:"about,omitzero"`       // the subject of Code, as of a reason.Reason
	Text       string  `json:"text,omitzero"`        // Code in words
	ExitStatus int     `json:"exit_status,omitzero"` // BOINC's number
	Stderr     string  `json:"stderr,omitzero"`      // the last lines that its application wrote

	Received time.Time `json:"received,omitzero"`
	Started  time.Time `json:"started,omitzero"` // zero if never
	Finished time.Time `json:"finished,omitzero"`
	Reported time.Time `json:"reported,omitzero"` // zero if not yet, or never
	Deadline time.Time `json:"deadline,omitzero"`

	Elapsed time.Duration `json:"elapsed,omitzero"`
	CPUTime time.Duration `json:"cpu_time,omitzero"`
	PeakRSS int64         `json:"peak_rss,omitzero"` // bytes
	Energy  Energy        `json:"energy,omitzero"`
}

// An Outcome is the way in which a task ended.
type Outcome string

// The outcomes.
const (
	TaskFinished Outcome = "finished"
	TaskFailed   Outcome = "failed"
	TaskAborted  Outcome = "aborted"
)

// An Actor is the person or program that caused something.
type Actor string

// The actors.
const (
	ByUser    Actor = "user"
	ByProject Actor = "project"
	ByAgent   Actor = "agent"
	ByManager Actor = "account_manager"
)

// Limits of the history. A copy of the file is made every hour, so it must stay small.
const (
	MaxEnded      = 10_000
	MaxEndedBytes = 8 << 20
)

var ended = logbook{bucket: endedBucket, most: MaxEnded, mostBytes: MaxEndedBytes}

// End adds a task to the history, and to the day's achievements, as part of tx. If the result is
// already in the history, its record is replaced. A result is identified by its project, its name
// and the time when it was received.
func (db *DB) End(tx *Tx, t EndedTask) {
	db.achieve(tx, t)
	tx.onDisk = append(tx.onDisk, func(d *disk) error { return putEnded(d, t) })
}

func putEnded(d *disk, t EndedTask) error {
	n, held, err := findEnded(d, t.Project, t.Name)
	if err != nil {
		return err
	}
	if n == 0 || !held.Received.Equal(t.Received) {
		_, last, _ := ended.ends(d.Tx)
		n = last + 1
	}
	data, err := json.Marshal(t)
	if err != nil {
		return err
	}
	if err := ended.put(d, n, data); err != nil {
		return err
	}
	if err := d.set(indexBucket, Key(t.Project, t.Name), []byte(numbered(n))); err != nil {
		return err
	}
	return ended.trim(d, nil, func(n uint64, value []byte) error {
		var t EndedTask
		if err := json.Unmarshal(value, &t); err != nil {
			return fmt.Errorf("%s %d: %w", endedBucket, n, err)
		}
		key := Key(t.Project, t.Name)
		if numberOf(d.get(indexBucket, key)) != n { // a later result has the same name
			return nil
		}
		return d.set(indexBucket, key, nil)
	})
}

// findEnded returns the last record of a result of that name. n is 0 if there is none.
func findEnded(d *disk, project, name string) (n uint64, t EndedTask, err error) {
	n = numberOf(d.get(indexBucket, Key(project, name)))
	if n == 0 {
		return 0, t, nil
	}
	value := d.get(endedBucket, numbered(n))
	if value == nil {
		return 0, t, nil
	}
	if err := json.Unmarshal(value, &t); err != nil {
		return 0, t, fmt.Errorf("%s %d: %w", endedBucket, n, err)
	}
	return n, t, nil
}

// Report records in the history, as part of tx, when a task was reported. If the task is missing
// because it ended before there was a history, it is added.
func (db *DB) Report(tx *Tx, t EndedTask, at time.Time) {
	tx.onDisk = append(tx.onDisk, func(d *disk) error {
		n, held, err := findEnded(d, t.Project, t.Name)
		if err != nil {
			return err
		}
		if n != 0 && held.Received.Equal(t.Received) {
			t = held
		}
		t.Reported = at
		return putEnded(d, t)
	})
}

// Ended reads the history of tasks from the file, starting with the last that ended, and with
// before set, only those before that number. It stops when yield returns false. Only the goroutine
// that owns the DB may call it.
func (db *DB) Ended(before uint64, yield func(n uint64, t EndedTask) bool) error {
	return db.view(func(b *bbolt.Tx) error { return backwards(b, ended, before, yield) })
}

// A Day contains the achievements of one day, UTC: the tasks that ended on it. Its key is the date.
type Day struct {
	Finished int           `json:"finished,omitzero"`
	Failed   int           `json:"failed,omitzero"`
	Aborted  int           `json:"aborted,omitzero"`
	CPUTime  time.Duration `json:"cpu_time,omitzero"` // of all tasks
	Energy   Energy        `json:"energy,omitzero"`   // likewise
}

// maxDays is the number of days whose achievements are kept.
const maxDays = 366

func (db *DB) achieve(tx *Tx, t EndedTask) {
	key := t.Finished.UTC().Format(time.DateOnly)
	day, _ := db.Days.Get(key)
	switch t.Outcome {
	case TaskFinished:
		day.Finished++
	case TaskFailed:
		day.Failed++
	case TaskAborted:
		day.Aborted++
	}
	day.CPUTime += t.CPUTime
	day.Energy = day.Energy.Plus(t.Energy)
	db.Days.Put(tx, key, day)
	for old := range db.Days.All() {
		if db.Days.Len() <= maxDays {
			break
		}
		db.Days.Delete(tx, old)
	}
}

// Achieved returns the sum of the achievements of the last days, where the day of now, UTC, counts
// as one.
func (db *DB) Achieved(now time.Time, days int) (sum Day) {
	for i := range days {
		d, _ := db.Days.Get(now.UTC().AddDate(0, 0, -i).Format(time.DateOnly))
		sum.Finished += d.Finished
		sum.Failed += d.Failed
		sum.Aborted += d.Aborted
		sum.CPUTime += d.CPUTime
		sum.Energy = sum.Energy.Plus(d.Energy)
	}
	return sum
}
