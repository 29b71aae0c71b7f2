package child

import (
	"errors"
	"os"
)

func pipe(int) (*os.File, error) {
	return nil, errors.New("no process inherits pipes on Windows")
}
