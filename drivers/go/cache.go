package hpsqlite

// A stmtCache keeps statements prepared that nobody is using, by their SQL.
// When there are too many the one that was used longest ago goes.
type stmtCache struct {
	most  int
	bySQL map[string]*Stmt
	tick  uint64
}

func (k *stmtCache) take(sql string) *Stmt {
	s := k.bySQL[sql]
	if s == nil || s.taken {
		return nil
	}
	k.tick++
	s.lastUse = k.tick
	s.taken = true
	return s
}

// give takes s back. It says false if there is no room for it: then the caller
// finalizes it.
func (k *stmtCache) give(s *Stmt) bool {
	if k.bySQL[s.sql] == s {
		s.taken = false
		return true
	}
	if k.most <= 0 || k.bySQL[s.sql] != nil {
		return false
	}
	if len(k.bySQL) >= k.most && !k.evict() {
		return false
	}
	if k.bySQL == nil {
		k.bySQL = make(map[string]*Stmt)
	}
	k.bySQL[s.sql] = s
	k.tick++
	s.lastUse = k.tick
	s.taken = false
	return true
}

func (k *stmtCache) evict() bool {
	var oldest *Stmt
	for _, s := range k.bySQL {
		if !s.taken && (oldest == nil || s.lastUse < oldest.lastUse) {
			oldest = s
		}
	}
	if oldest == nil {
		return false
	}
	delete(k.bySQL, oldest.sql)
	oldest.finalize()
	return true
}
