-- The tables of ClickBench, as crates/hpsqlite-compare/src/data/hits.rs makes them, and what
-- ANALYZE says of them at 2,000,000 rows.  engine/test/suites.c puts some rows into each.
CREATE TABLE hits(
  WatchID INTEGER, JavaEnable INTEGER, Title TEXT, GoodEvent INTEGER, EventTime TEXT, EventDate
  TEXT, CounterID INTEGER, ClientIP INTEGER, RegionID INTEGER, UserID INTEGER, CounterClass
  INTEGER, OS INTEGER, UserAgent INTEGER, URL TEXT, Referer TEXT, IsRefresh INTEGER,
  RefererCategoryID INTEGER, RefererRegionID INTEGER, URLCategoryID INTEGER, URLRegionID INTEGER,
  ResolutionWidth INTEGER, ResolutionHeight INTEGER, ResolutionDepth INTEGER, FlashMajor INTEGER,
  FlashMinor INTEGER, FlashMinor2 TEXT, NetMajor INTEGER, NetMinor INTEGER, UserAgentMajor
  INTEGER, UserAgentMinor TEXT, CookieEnable INTEGER, JavascriptEnable INTEGER, IsMobile INTEGER,
  MobilePhone INTEGER, MobilePhoneModel TEXT, Params TEXT, IPNetworkID INTEGER, TraficSourceID
  INTEGER, SearchEngineID INTEGER, SearchPhrase TEXT, AdvEngineID INTEGER, IsArtifical INTEGER,
  WindowClientWidth INTEGER, WindowClientHeight INTEGER, ClientTimeZone INTEGER, ClientEventTime
  TEXT, SilverlightVersion1 INTEGER, SilverlightVersion2 INTEGER, SilverlightVersion3 INTEGER,
  SilverlightVersion4 INTEGER, PageCharset TEXT, CodeVersion INTEGER, IsLink INTEGER, IsDownload
  INTEGER, IsNotBounce INTEGER, FUniqID INTEGER, OriginalURL TEXT, HID INTEGER, IsOldCounter
  INTEGER, IsEvent INTEGER, IsParameter INTEGER, DontCountHits INTEGER, WithHash INTEGER, HitColor
  TEXT, LocalEventTime TEXT, Age INTEGER, Sex INTEGER, Income INTEGER, Interests INTEGER,
  Robotness INTEGER, RemoteIP INTEGER, WindowName INTEGER, OpenerName INTEGER, HistoryLength
  INTEGER, BrowserLanguage TEXT, BrowserCountry TEXT, SocialNetwork TEXT, SocialAction TEXT,
  HTTPError INTEGER, SendTiming INTEGER, DNSTiming INTEGER, ConnectTiming INTEGER,
  ResponseStartTiming INTEGER, ResponseEndTiming INTEGER, FetchTiming INTEGER,
  SocialSourceNetworkID INTEGER, SocialSourcePage TEXT, ParamPrice INTEGER, ParamOrderID TEXT,
  ParamCurrency TEXT, ParamCurrencyID INTEGER, OpenstatServiceName TEXT, OpenstatCampaignID TEXT,
  OpenstatAdID TEXT, OpenstatSourceID TEXT, UTMSource TEXT, UTMMedium TEXT, UTMCampaign TEXT,
  UTMContent TEXT, UTMTerm TEXT, FromTag TEXT, HasGCLID INTEGER, RefererHash INTEGER, URLHash
  INTEGER, CLID INTEGER);
-- statistics
ANALYZE sqlite_schema;
INSERT INTO sqlite_stat1 VALUES
  ('hits', NULL, '2000000');
