package account

import (
	"errors"
	"slices"

	"github.com/starling-grid/starling/internal/words"
	"github.com/starling-grid/starling/server/setting"
)

// Settings are the settings for accounts.
type Settings struct {
	DisableAccountCreation   bool     `toml:"disable_account_creation"`
	Invitations              []string `toml:"invitations"`
	ConfirmEmail             bool     `toml:"confirm_email"`
	MinPasswdLength          int      `toml:"min_passwd_length"`
	MaxAccountsPerAddressDay int      `toml:"max_accounts_per_address_day"` // 0: no limit
	MaxWrongPasswords        int      `toml:"max_wrong_passwords"`          // 0: no limit
}

// Keys describes the settings.
func (s *Settings) Keys() []setting.Key {
	return []setting.Key{
		setting.Of(&s.DisableAccountCreation, false,
			`Whether only the operator can create accounts (starling-server user add).`).First(),
		setting.Of(&s.Invitations, []string{},
			`Codes, one of which is needed to sign up. []: no code is needed.`).Checked(func() error {
			if slices.Contains(s.Invitations, "") {
				return errors.New("a code is empty")
			}
			return nil
		}),
		setting.Of(&s.ConfirmEmail, false,
			`Whether an account gets tasks only after its owner has opened a link in an e-mail. Accounts that the
			operator creates are confirmed. This needs mail.`),
		setting.Number(&s.MinPasswdLength, 6, 100,
			`Minimum length of passwords that clients accept.`),
		setting.Number(&s.MaxAccountsPerAddressDay, 50, 1e6,
			`Accounts created from one address each day.`),
		setting.Number(&s.MaxWrongPasswords, 10, 1e6,
			`Wrong passwords allowed for one account from one address. After that, one more is allowed each minute.
			The owner is not locked out elsewhere, and the account key always works.`),
	}
}

// PasswordFault returns the fault of a new password, or the empty text.
func (s *Settings) PasswordFault(password string) words.Text {
	if len(password) < s.MinPasswdLength {
		return words.T("the password is too short: at least {n} characters are required", "n", s.MinPasswdLength)
	}
	return words.Text{}
}
