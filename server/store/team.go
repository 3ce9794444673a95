package store

import (
	"cmp"
	"fmt"
	"strings"
	"time"

	"github.com/starling-grid/starling/server/db"
)

// A Team is a group of volunteers.
type Team struct {
	ID          int64     `db:"id"`
	CreateTime  time.Time `db:"create_time"`
	UserID      int64     `db:"userid"` // its leader, or 0
	Name        string    `db:"name"`
	URL         string    `db:"url"`         // its web site, or ""
	Description string    `db:"description"` // as its leader wrote it, not HTML
	TotalCredit float64   `db:"total_credit"`
}

var teamColumns = db.ColumnsOf[Team]()

var (
	setTeam    = db.Update("team", "userid = $2, url = $3, description = $4")
	teamCredit = db.Update("team", "total_credit = total_credit + $2")
	deleteTeam = db.Change(`DELETE FROM team WHERE id = $1`)
	touchTeam  = `UPDATE team SET userid = userid WHERE id = $1`
)

var (
	insertTeam = teamColumns.InsertInto("team", "create_time, userid, name, url, description", "name_key")
	teamByID   = byID(`SELECT `+teamColumns.List()+` FROM team WHERE id`, "")
	teamByName = `SELECT ` + teamColumns.List() + ` FROM team WHERE name_key = $1`
	members    = `SELECT ` + userColumns.List() + ` FROM "user" WHERE teamid = $1 AND teamid <> 0 ORDER BY total_credit DESC, id LIMIT 0 + $2`
)

// InsertTeam adds a team and returns its id, or ErrExists if there is one of that name, in
// capitals or not.
func (t *Tx) InsertTeam(x Team) (int64, error) {
	id, err := t.insert(insertTeam.Statement, insertTeam.Args(&x, strings.ToLower(x.Name))...)
	if err != nil {
		return 0, fmt.Errorf("team %s: %w", x.Name, err)
	}
	return id, nil
}

// Team returns a team, or ErrNotFound.
func (t *View) Team(id int64) (Team, error) { return one(t, teamColumns.Scan, teamByID.one, id) }

// TeamsByID asks for teams by their ids.
func TeamsByID(list []int64, found func(Team)) Question {
	return withIDs(teamByID, list, teamColumns.Scan, found)
}

// TeamToChange is Team for a transaction that changes the team or its members. Of two such transactions
// the later one sees the changes of the other.
func (t *Tx) TeamToChange(id int64) (Team, error) {
	if n, err := t.exec(touchTeam, id); err != nil || n == 0 {
		return Team{}, cmp.Or(err, ErrNotFound)
	}
	return t.Team(id)
}

// TeamByName returns the team of that name, in capitals or not, or ErrNotFound.
func (t *View) TeamByName(name string) (Team, error) {
	return one(t, teamColumns.Scan, teamByName, strings.ToLower(name))
}

// SetTeam changes the leader, the URL and the description of a team.
func (t *Tx) SetTeam(x Team) error { return t.execOne(setTeam, x.ID, x.UserID, x.URL, x.Description) }

// AddTeamCredit adds to the credit that the members of a team earned in it. It ignores teams that
// were deleted.
func (t *Tx) AddTeamCredit(id int64, credit float64) error { return t.run(teamCredit, id, credit) }

// DeleteTeam deletes a team, which must be without members.
func (t *Tx) DeleteTeam(id int64) error { return t.execOne(deleteTeam, id) }

// Members returns the members of a team with the most credit, the most first.
func (t *View) Members(teamID int64, limit int) ([]User, error) {
	return all(t, userColumns.Scan, members, teamID, limit)
}
