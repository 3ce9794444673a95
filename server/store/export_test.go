package store

// Exec runs any SQL within a transaction.
func Exec(tx *Tx, query string) error {
	_, err := tx.exec(query)
	return err
}
