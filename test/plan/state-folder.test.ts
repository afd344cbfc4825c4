import {
	copyFileSync,
	existsSync,
	linkSync,
	mkdirSync,
	readdirSync,
	readFileSync,
	realpathSync,
	renameSync,
	rmSync,
	statSync,
	symlinkSync,
	unlinkSync,
	writeFileSync,
} from "node:fs";
import { join, resolve } from "node:path";
import { afterEach, describe, expect, it } from "vitest";
import { pickSlot } from "#src/plan/slot-match.js";
import { findByPath, findSlot, makeSlot, type SessionFile, slotsOf } from "#src/plan/state-folder.js";
import { makeFolder, safeName, stateRoot, stateUnavailable } from "#src/plan/state-root.js";
import { scratchFolder } from "../helpers/files.js";
import { party } from "./parties.js";

const files = scratchFolder();
let made = 0;

/** A new root that is not there yet, and a folder of sessions beside it. */
function newPlace() {
	const folder = join(realpathSync(files.path), String(++made));
	mkdirSync(folder);
	const root = join(folder, "state");
	return {
		root,
		at: (name: string) => join(folder, name),
		write(name: string, id = "one"): SessionFile {
			writeFileSync(join(folder, name), `${name} of ${id}`);
			return { format: "pi", id, path: join(folder, name) };
		},
		find: (name: string, id = "one") => findSlot(root, { format: "pi", id, path: join(folder, name) }),
		make: (name: string, id = "one") => makeSlot(root, { format: "pi", id, path: join(folder, name) }),
	};
}

const record = (slot: { folder: string }) => JSON.parse(readFileSync(join(slot.folder, "where.json"), "utf8"));
const unavailable = (words: string) =>
	expect.objectContaining({
		code: "state_unavailable",
		message: expect.stringContaining(words),
		hint: expect.stringContaining("MIDCOMPACT_STATE_DIR"),
	});

/** Rewrites a file as hosts do: under another name, which then takes the place of the old one. */
function rewrite(path: string): void {
	writeFileSync(`${path}.new`, "rewritten");
	renameSync(`${path}.new`, path);
}

/** Moves a file as across file systems. */
function copyAndDelete(from: string, to: string): void {
	copyFileSync(from, to);
	unlinkSync(from);
}

describe("the root of the state", () => {
	const linux = { platform: "linux", home: () => "/home/me" } as const;
	const windows = { platform: "win32", home: () => "C:\\Users\\me" } as const;
	it.each([
		["the default", linux, {}, "/home/me/.local/state/midcompact"],
		["macOS", { ...linux, platform: "darwin" } as const, {}, "/home/me/.local/state/midcompact"],
		["XDG", linux, { XDG_STATE_HOME: "/x" }, "/x/midcompact"],
		["a relative XDG folder", linux, { XDG_STATE_HOME: "x" }, "/home/me/.local/state/midcompact"],
		["our own", linux, { MIDCOMPACT_STATE_DIR: "/s", XDG_STATE_HOME: "/x" }, "/s"],
		["our own, relative", linux, { MIDCOMPACT_STATE_DIR: "s/../t" }, resolve("t")],
		["empty variables", linux, { MIDCOMPACT_STATE_DIR: "", XDG_STATE_HOME: "" }, "/home/me/.local/state/midcompact"],
		["Windows", windows, { LOCALAPPDATA: "D:\\L", XDG_STATE_HOME: "/x" }, "D:\\L\\midcompact"],
		["Windows without the variable", windows, {}, "C:\\Users\\me\\AppData\\Local\\midcompact"],
	])("is where the environment says: %s", (_name, where, env, expected) => {
		expect(stateRoot({ ...where, env })).toBe(expected);
	});

	it.each([
		["is not known", () => ""],
		[
			"cannot be asked for",
			(): string => {
				throw new Error("no such user");
			},
		],
	])("cannot be told where the home folder %s", (_name, home) => {
		expect(() => stateRoot({ env: {}, platform: "linux", home })).toThrow(unavailable("no home folder"));
	});
});

describe("the name of a session's folder", () => {
	it.each(["0198f000-0000-7000-8000-000000000001", "a", "A.b_c-9", "9".repeat(80), "console", "com", "lpt10"])(
		"is the id where that is harmless: %s",
		(id) => expect(safeName(id)).toBe(id),
	);

	const hostile = [
		"",
		".",
		"..",
		"../../x",
		"/etc/passwd",
		"C:\\x",
		"a/b",
		"a\0b",
		"a b",
		"-rf",
		"_x",
		".hidden",
		"x".repeat(81),
		"x".repeat(10_000),
		"CON",
		"con",
		"nul.txt",
		"Com1",
		"LPT9.a.b",
		"ends.",
		"é",
		"x\n",
		"\ud83d",
		"\ud83e",
	];
	it("is a hash where the id is hostile, and another one for every id", () => {
		const names = hostile.map(safeName);
		for (const name of names) expect(name).toMatch(/^_[0-9a-f]{40}$/);
		expect(new Set(names).size).toBe(hostile.length);
		expect(names.map(safeName)).not.toContain(names[0]);
	});

	it("keeps every hostile id inside the root", async () => {
		const place = newPlace();
		for (const [i, id] of hostile.entries()) {
			place.write(`${i}`, id);
			const { folder, number } = await place.make(`${i}`, id);
			expect([folder, number]).toEqual([join(place.root, "pi", safeName(id), "1"), 1]);
			expect((await place.find(`${i}`, id))?.folder).toBe(folder);
		}
		expect(readdirSync(join(place.root, "pi")).length).toBe(hostile.length);
	});
});

describe("the slot of a session file", () => {
	it("is not made by looking for it, and neither is anything else", async () => {
		const place = newPlace();
		place.write("a");
		expect(await place.find("a")).toBeNull();
		expect(await slotsOf(place.root, "pi", "one")).toEqual([]);
		expect(await findByPath(place.root, place.at("a"))).toEqual([]);
		expect(existsSync(place.root)).toBe(false);
	});

	it("is made once, and found again", async () => {
		const place = newPlace();
		place.write("a");
		const slot = await place.make("a");
		const session = join(place.root, "pi", "one");
		const expected = { format: "pi", folder: join(session, "1"), archive: join(session, "archive"), number: 1 };
		expect(slot).toEqual({ ...expected, path: place.at("a") });
		expect(await place.make("a")).toEqual(slot);
		expect(await place.find("a")).toEqual(slot);
		expect(await slotsOf(place.root, "pi", "one")).toEqual([slot]);
		expect(readdirSync(session)).toEqual(["1"]);
		expect(readdirSync(slot.folder)).toEqual(["where.json"]);
	});

	it("is kept by format and by id", async () => {
		const place = newPlace();
		const file = place.write("a");
		const slots = [
			await makeSlot(place.root, file),
			await makeSlot(place.root, { ...file, format: "codex" }),
			await makeSlot(place.root, { ...file, id: "two" }),
		];
		expect(new Set(slots.map(({ folder }) => folder)).size).toBe(3);
		expect(await findByPath(place.root, place.at("a"))).toEqual([slots[0], slots[2], slots[1]]);
	});

	it("is found again when the file was renamed", async () => {
		const place = newPlace();
		place.write("a");
		const { folder } = await place.make("a");
		renameSync(place.at("a"), place.at("b"));
		expect(await place.find("b")).toMatchObject({ folder, path: place.at("b") });
		expect(record({ folder }).path).toBe(place.at("b"));
		rewrite(place.at("b"));
		expect(await place.make("b")).toMatchObject({ folder, number: 1 });
	});

	it("is found again when the host rewrote the file", async () => {
		const place = newPlace();
		place.write("a");
		const { folder } = await place.make("a");
		rewrite(place.at("a"));
		expect(await place.find("a")).toMatchObject({ folder });
		expect(record({ folder }).inode).toBe(String(statSync(place.at("a")).ino));
		renameSync(place.at("a"), place.at("b"));
		expect(await place.find("b")).toMatchObject({ folder });
	});

	it("is found again when the file was copied elsewhere and deleted", async () => {
		const place = newPlace();
		place.write("a");
		const { folder } = await place.make("a");
		mkdirSync(place.at("other"));
		copyAndDelete(place.at("a"), place.at("other/b"));
		expect(await place.find("other/b")).toMatchObject({ folder, path: place.at("other/b") });
		expect(await place.make("other/b")).toMatchObject({ folder });
	});

	it("is a new one where several files of that id went away", async () => {
		const place = newPlace();
		for (const name of ["a", "b"]) {
			place.write(name);
			await place.make(name);
		}
		copyFileSync(place.at("a"), place.at("c"));
		for (const name of ["a", "b"]) unlinkSync(place.at(name));
		expect(await place.find("c")).toBeNull();
		expect((await place.make("c")).number).toBe(3);
	});

	it("is one of its own for a copy whose original still stands", async () => {
		const place = newPlace();
		place.write("a");
		await place.make("a");
		copyFileSync(place.at("a"), place.at("b"));
		expect(await place.find("b")).toBeNull();
		expect((await place.make("b")).number).toBe(2);
		expect((await place.find("a"))?.number).toBe(1);
	});

	it("stays with the rewritten original when a copy was given its inode", async () => {
		const place = newPlace();
		place.write("a");
		const slot = await place.make("a");
		rewrite(place.at("a"));
		copyFileSync(place.at("a"), place.at("b"));
		// The file system gives out inodes as it likes: this is what is known of the copy where it did.
		writeFileSync(
			join(slot.folder, "where.json"),
			JSON.stringify({ ...record(slot), inode: String(statSync(place.at("b")).ino) }),
		);
		expect(await place.find("b")).toBeNull();
		expect((await place.find("a"))?.number).toBe(1);
	});

	it.each([
		["no births of files, and the old path is taken", { inode: "7", born: "0" }, true, null],
		["no births of files, and the old path is free", { inode: "7", born: "0" }, false, true],
		["no inodes, and the old path is taken", { inode: "0", born: "5" }, true, null],
	])("is told as well as it can be where the system knows %s", async (_name, facts, isTaken, moved) => {
		const place = newPlace();
		if (isTaken) place.write("a");
		const known = { place: { path: place.at("a"), device: "1", ...facts }, seen: 1 };
		const picked = await pickSlot([known], { path: place.at("b"), device: "1", ...facts });
		expect(picked).toEqual(moved && { known, moved });
	});

	it("goes with the renamed file when another one stands at its old path", async () => {
		const place = newPlace();
		place.write("a");
		await place.make("a");
		renameSync(place.at("a"), place.at("b"));
		place.write("a");
		const found = await place.find("b");
		const tellsBirth = record(await place.make("b")).born !== "0";
		if (tellsBirth) expect(found?.number).toBe(1);
		expect((await place.make("a")).number).toBe(2);
	});

	it("is that of the file which was renamed over another one", async () => {
		const place = newPlace();
		for (const name of ["a", "b"]) {
			place.write(name);
			await place.make(name);
		}
		renameSync(place.at("b"), place.at("a"));
		expect((await place.find("a"))?.number).toBe(2);
		rewrite(place.at("a"));
		expect((await place.find("a"))?.number).toBe(2);
		copyAndDelete(place.at("a"), place.at("c"));
		expect((await place.find("c"))?.number).toBe(2);
	});

	it("is one for all names of a file", async () => {
		const place = newPlace();
		place.write("a");
		const slot = await place.make("a");
		symlinkSync(place.at("a"), place.at("symbolic"));
		linkSync(place.at("a"), place.at("hard"));
		expect(await place.find("symbolic")).toEqual(slot);
		expect(await place.find("hard")).toEqual(slot);
		expect(record(slot).path).toBe(place.at("a"));
	});

	it("is found by the path when the file is gone, through symbolic links too", async () => {
		const place = newPlace();
		mkdirSync(place.at("sessions"));
		place.write("sessions/a");
		const slot = await place.make("sessions/a");
		symlinkSync(place.at("sessions"), place.at("link"));
		unlinkSync(place.at("sessions/a"));
		expect(await findByPath(place.root, place.at("link/a"))).toEqual([slot]);
		expect(await findByPath(place.root, place.at("link/b"))).toEqual([]);
		rmSync(place.at("sessions"), { recursive: true });
		expect(await findByPath(place.root, place.at("sessions/a"))).toEqual([slot]);
	});

	it("is one for processes that ask for one file at once, and two for two files", async () => {
		const place = newPlace();
		for (const name of ["a", "b"]) place.write(name);
		const [a, b] = [place.at("a"), place.at("b")];
		const parties = [party("slots", place.root, a, b, a), party("slots", place.root, b, a, b)];
		for (const { ended } of parties) expect(await ended).toEqual({ code: 0, err: "" });
		const [[a1, b1, a2], [b2, a3, b3]] = parties.map(({ lines }) => JSON.parse(lines[0]));
		expect([new Set([a1, a2, a3]), new Set([b1, b2, b3])].map((numbers) => numbers.size)).toEqual([1, 1]);
		expect(new Set([a1, b1])).toEqual(new Set([1, 2]));
		expect(readdirSync(join(place.root, "pi", "one")).sort()).toEqual(["1", "2"]);
	});

	it.each([
		["looked for", "find" as const, 1],
		["asked for", "make" as const, 2],
	])("is taken over by one file only when two copies are %s at once", async (_name, deed, count) => {
		const place = newPlace();
		place.write("a");
		await place.make("a");
		for (const name of ["b", "c"]) copyFileSync(place.at("a"), place.at(name));
		unlinkSync(place.at("a"));
		const slots = await Promise.all([place[deed]("b"), place[deed]("c")]);
		const numbers = slots.flatMap((slot) => slot?.number ?? []);
		expect(numbers.sort()).toEqual([1, 2].slice(0, count));
		expect(await Promise.all([place.find("b"), place.find("c")])).toEqual(slots);
	});

	it.each([
		["empty", ""],
		["torn", '{"path":"/a","dev'],
		["no object", "null"],
		["of the wrong types", '{"path":1,"device":"1","inode":"1","born":"1"}'],
		["not there", null],
		["a folder", "folder"],
	])("is of an unknown file, which is said, where its record is %s", async (name, content) => {
		const place = newPlace();
		const file = place.write("a");
		const damaged = await place.make("a");
		const path = join(damaged.folder, "where.json");
		unlinkSync(path);
		if (name === "a folder") {
			mkdirSync(path);
			await expect(place.find("a")).rejects.toEqual(unavailable("a folder stands where a file should be"));
			return;
		}
		if (content !== null) writeFileSync(path, content);
		const said: string[] = [];
		expect(await findSlot(place.root, file, (notice) => said.push(notice))).toBeNull();
		expect(said).toEqual([expect.stringContaining(`${path} is damaged`)]);
		expect((await slotsOf(place.root, "pi", "one"))[0]).toEqual({ ...damaged, path: null });
		expect(await makeSlot(place.root, file, (notice) => said.push(notice))).toMatchObject({ number: 2 });
		expect(said.length).toBe(2);
	});

	it("is `unreadable` for a file that is not there", async () => {
		const place = newPlace();
		const unreadable = expect.objectContaining({ code: "unreadable" });
		await expect(place.find("none")).rejects.toEqual(unreadable);
		await expect(place.make("none")).rejects.toEqual(unreadable);
		expect(existsSync(place.root)).toBe(false);
	});
});

describe("a folder that cannot be used", () => {
	it.each([
		["a file in place of the root", "state"],
		["a file in place of a format", "state/pi"],
		["a file in place of a session", "state/pi/one"],
	])("is `state_unavailable` to write, and has nothing to read: %s", async (_name, path) => {
		const place = newPlace();
		place.write("a");
		mkdirSync(join(place.at(path), ".."), { recursive: true });
		writeFileSync(place.at(path), "");
		await expect(place.make("a")).rejects.toEqual(unavailable("a file stands where a folder should be"));
		expect(await place.find("a")).toBeNull();
		expect(await findByPath(place.root, place.at("a"))).toEqual([]);
		expect(readFileSync(place.at(path), "utf8")).toBe("");
	});

	it.each(["/proc", "/sys"].filter((path) => existsSync(path)))(
		"says why in words where %s takes nothing",
		async (path) => {
			const file = newPlace().write("a");
			const root = `${path}/midcompact`;
			await expect(makeSlot(root, file)).rejects.toThrow(
				expect.objectContaining({
					code: "state_unavailable",
					message: expect.stringMatching(/^The folder \S+ cannot be made: [a-z -]+\.$/),
				}),
			);
			expect(await findSlot(root, file)).toBeNull();
		},
	);

	it.each([
		["EACCES", "permission is denied"],
		["EROFS", "the file system is read-only"],
		["ENOSPC", "the disk is full"],
		["ENOTDIR", "a file stands where a folder should be"],
	])("has words for %s", (code, words) => {
		const error = stateUnavailable("It cannot be written", Object.assign(new Error("E"), { code }));
		expect(error).toEqual(unavailable(`It cannot be written: ${words}.`));
	});

	it("says why where the path is too long", async () => {
		const place = newPlace();
		await expect(makeSlot(place.at("x".repeat(300)), place.write("a"))).rejects.toEqual(unavailable("too long"));
	});
});

describe("what is made", () => {
	const before = process.umask();
	afterEach(() => void process.umask(before));

	it.each([0o000, 0o022, 0o077, 0o277, 0o777])("is for the user alone under the umask %o", async (mask) => {
		const place = newPlace();
		place.write("a");
		process.umask(mask);
		const slot = await place.make("a");
		await makeFolder(slot.archive);
		process.umask(before);
		const mode = (path: string) => statSync(path).mode & 0o777;
		const session = join(place.root, "pi", "one");
		const folders = [place.root, join(place.root, "pi"), session, slot.folder, slot.archive];
		expect(folders.map(mode)).toEqual(folders.map(() => 0o700));
		expect(mode(join(slot.folder, "where.json"))).toBe(0o600);
	});

	it("leaves the mode of a folder that was there", async () => {
		const place = newPlace();
		place.write("a");
		mkdirSync(place.root, { mode: 0o755 });
		await place.make("a");
		expect(statSync(place.root).mode & 0o777).toBe(0o755 & ~before);
	});
});
