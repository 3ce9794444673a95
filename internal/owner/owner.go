// Package owner sees that what root writes for the agent's own user is that
// user's.
package owner

import (
	"fmt"
	"io/fs"
	"os"
)

// Give makes a folder and all in it the property of a user and group.
func Give(dir string, uid, gid int) error {
	root, err := os.OpenRoot(dir)
	if err != nil {
		return err
	}
	defer root.Close()
	err = fs.WalkDir(root.FS(), ".", func(path string, _ fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		return root.Lchown(path, uid, gid)
	})
	if err != nil {
		return fmt.Errorf("give %s to user %d: %w", dir, uid, err)
	}
	return nil
}

// Inherit makes all in a folder its owner's, when root runs this.
func Inherit(dir string) error {
	uid, gid, other := Of(dir)
	if !other {
		return nil
	}
	return Give(dir, uid, gid)
}
