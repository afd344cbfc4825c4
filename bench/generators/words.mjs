/** Vocabulary of the generated texts. */

export const VERBS =
	"load parse merge resolve render fetch update remove create apply validate encode decode open close flush queue retry schedule cancel attach detach register collect group split join filter sort compare measure hash sign verify publish subscribe emit handle dispatch compile link bundle cache evict read write stream copy move restore migrate lock release".split(
		" ",
	);

export const NOUNS =
	"session record message branch entry anchor token buffer chunk cursor worker pool queue channel client server request response header payload schema config option profile user account order invoice item price cart coupon shipment address region tenant policy role grant audit event metric trace span log index segment page block node edge graph tree leaf cache store shard replica snapshot journal migration fixture factory adapter gateway router handler middleware validator resolver scheduler reporter".split(
		" ",
	);

export const TYPES = NOUNS.map((noun) => noun[0].toUpperCase() + noun.slice(1));

export const FOLDERS =
	"src lib app core api server client web shared common utils internal domain services handlers routes models views components hooks store workers jobs db migrations auth billing checkout catalog search reports notifications".split(
		" ",
	);

export const EXTENSIONS = ["ts", "ts", "ts", "tsx", "mjs", "py", "go", "rs", "sql", "json", "yaml", "md"];

export const PHRASES = [
	"the failing case only shows up when two workers start at the same time",
	"I would rather keep the old behaviour for callers that pass no options",
	"after the last change the response no longer contains the total",
	"this is the same problem we saw in staging on Tuesday",
	"the lock is released before the write has reached the disk",
	"we can drop the fallback once every client sends the new header",
	"the timeout is measured from the first byte, not from the request",
	"a retry hides the error but doubles the load on the database",
	"nothing in the tests covers an empty list",
	"the index is rebuilt on every start, which explains the slow boot",
	"the migration ran twice because the advisory lock was never taken",
	"let me look at how the other handlers deal with a cancelled request",
	"the cache key leaves out the tenant, so one customer can see the page of another",
	"both paths should go through the same validator",
	"I will write the test first and then move the code",
	"the assertion compares floating point numbers without a tolerance",
	"it passes on my machine because the clock there is in UTC",
	"the queue drains, but the last item is acknowledged too early",
	"we read the whole file into memory although only the header is needed",
	"the type says optional but the code path never checks for it",
	"this makes the common case about three times faster",
	"there are four callers, and only one of them needs the extra field",
	"the error message names the wrong file, which cost me an hour",
	"please keep the public signature as it is",
	"the snapshot was taken before the branch was rebased",
	"it would be cleaner to pass the clock in",
];

export const CONNECTORS = [", so ", ", because ", ". ", ". ", "; ", ". But ", ". Then ", ", and ", ". Note that "];

export const CJK = [
	"这个测试只在两个进程同时启动时才会失败",
	"请先阅读配置文件再修改代码",
	"数据库连接在超时之前就被关闭了",
	"缓存没有考虑租户的标识",
	"次のリリースまでにこの問題を直してください",
	"ログにはエラーが残っていません",
	"設定ファイルの読み込み順序を確認する",
	"세션이 닫히기 전에 마지막 메시지가 전송되지 않았습니다",
	"테스트를 다시 실행해 보겠습니다",
	"队列里的最后一个任务被过早确认",
];

export const EMOJI = ["✅", "🚀", "⚠️", "🔍", "❌", "👍"];

export const LEVELS = ["INFO ", "INFO ", "INFO ", "DEBUG", "WARN ", "ERROR"];
export const STATUS = [200, 200, 200, 201, 204, 304, 400, 404, 409, 500, 503];
export const METHODS = ["GET", "GET", "POST", "PUT", "PATCH", "DELETE"];
