package hpsqlite

// #include "hpgo.h"
import "C"

import (
	"sync/atomic"
	"time"
)

// lingerFor is how long the lock on a WAL's read mark may stay after the last read
// transaction. To lock and unlock it is half of the time of a look-up. Other processes see
// a reader that stays as long: their checkpoints wait for it, or end at its snapshot.
const lingerFor = 5 * time.Millisecond

var lingering atomic.Bool

// lingers is called when locks linger, and sees to it that they end.
func lingers() {
	if !lingering.Load() && lingering.CompareAndSwap(false, true) {
		time.AfterFunc(lingerFor, func() {
			lingering.Store(false)
			C.hpgo_linger_end()
		})
	}
}
