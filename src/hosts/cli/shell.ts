/** The process around a command: its streams, its signals and how it ends. stdout carries data only. */
import { writeSync } from "node:fs";
import { addAbortSignal } from "node:stream";
import { asMidcompactError, MidcompactError } from "../../errors.js";
import { type Answer, errorReply, okReply, type Reply } from "../../facade/reply.js";
import { REPLY_BOUND } from "../../facade/text.js";
import { boundedLines } from "./bounded-lines.js";
import { type Paint, painter, safe, safeJson } from "./terminal.js";

/** Columns of a table that goes into a pipe. */
export const PIPE_COLUMNS = 120;
/** Columns of a terminal that does not tell. */
const USUAL_COLUMNS = 80;
/** Bytes of a request on stdin at most. */
const STDIN_BOUND = 16 * 1024 * 1024;
/** Time that closing may take after a signal, in ms. */
const PATIENCE = 2_000;

export class Shell {
	/** 0 ok, 1 refused or failed, 2 usage, 128 + signal after a signal. */
	exitCode = 0;
	readonly #controller = new AbortController();
	#writing: Promise<void> = Promise.resolve();

	/** Aborts when the user interrupts. */
	get signal(): AbortSignal {
		return this.#controller.signal;
	}

	get interrupted(): boolean {
		return this.#controller.signal.aborted;
	}

	/** Whether a person looks at stdout. */
	get terminal(): boolean {
		return process.stdout.isTTY ?? false;
	}

	/** Columns of the terminal, or those of a table in a pipe. */
	get columns(): number {
		return this.terminal ? process.stdout.columns || USUAL_COLUMNS : PIPE_COLUMNS;
	}

	/** Where a question is put. A terminal that does not tell its width would get every letter on a line of its own. */
	get questions(): NodeJS.WriteStream {
		process.stderr.columns ||= USUAL_COLUMNS;
		return process.stderr;
	}

	/** Colours go to a terminal only; NO_COLOR and `--no-color` turn them off. */
	paint(wanted: boolean): Paint {
		const { NO_COLOR, TERM } = process.env;
		return painter(wanted && process.stdout.isTTY && !NO_COLOR && TERM !== "dumb");
	}

	/** Takes over the signals and the ends of the streams. */
	attach(): void {
		const onSignal = (number: number) => () => {
			if (this.interrupted) process.exit(128 + number);
			this.exitCode = 128 + number;
			this.#controller.abort();
			setTimeout(() => process.exit(128 + number), PATIENCE).unref();
		};
		process.on("SIGINT", onSignal(2));
		process.on("SIGTERM", onSignal(15));
		process.stdout.on("error", (error) => this.#unwritable(error));
		process.stderr.on("error", (error) => this.#unwritable(error));
		const onCrash = (thrown: unknown) => {
			this.fail(asMidcompactError(thrown), false);
			void this.end();
		};
		process.on("uncaughtException", onCrash);
		process.on("unhandledRejection", onCrash);
	}

	/** Data for a person. The caller made it safe for a terminal; see `safe`. */
	print(text: string): void {
		this.#write(process.stdout, text.endsWith("\n") ? text : `${text}\n`);
	}

	printJson(value: unknown): void {
		this.print(safeJson(value));
	}

	/** Lines of data as they are, however many; resolves when the reader has taken them. */
	printLines(lines: string): Promise<void> {
		return this.#write(process.stdout, lines);
	}

	/** The answer to what only the user does, in the form of a reply. */
	answer(action: string, answer: Answer, json: boolean): void {
		this.printReply(okReply(action, answer, REPLY_BOUND), json);
	}

	/** The answer of a command that is no action of the facade, in the form of a reply; its text is bounded like one. */
	printAnswer(action: string, text: string, data: object): void {
		this.printJson({ ok: true, action, text: boundedLines(text), data });
	}

	/** A reply as JSON or as its text; a refusal sets the exit code and goes to stderr, unless JSON was asked for. */
	printReply(reply: Reply, json: boolean): void {
		if (this.interrupted) return;
		if (!reply.ok) this.exitCode = 1;
		if (json) this.printJson(reply);
		else if (reply.ok) this.print(safe(reply.text));
		else this.complain(reply.error.message, reply.error.hint);
	}

	fail(error: MidcompactError, json: boolean): void {
		if (this.interrupted) return;
		this.printReply(errorReply(error), json);
	}

	complain(message: string, hint: string): void {
		this.printError(`error: ${message}\nhint: ${hint}\n`);
	}

	/** Text of an error on stderr. */
	printError(text: string): void {
		this.#write(process.stderr, safe(text));
	}

	/** All of stdin as text. Errors: `invalid_request` above 16 MiB. */
	async readStdin(): Promise<string> {
		const chunks: Buffer[] = [];
		let bytes = 0;
		for await (const chunk of addAbortSignal(this.signal, process.stdin)) {
			const part = Buffer.from(chunk);
			bytes += part.length;
			if (bytes > STDIN_BOUND)
				throw new MidcompactError("invalid_request", "The request on stdin is larger than 16 MiB.");
			chunks.push(part);
		}
		return Buffer.concat(chunks).toString("utf8");
	}

	/** Ends the process when everything that was written has left it: an exit before that cuts a pipe's content (ccusage PR#984). */
	async end(): Promise<never> {
		await this.#writing;
		process.exit(this.exitCode);
	}

	/** A reader that has seen enough (`| head`) is no failure; a device that is full is one. */
	#unwritable(error: NodeJS.ErrnoException): never {
		if (error.code === "EPIPE") process.exit(this.exitCode);
		try {
			writeSync(process.stderr.fd, `error: cannot write output (${error.code ?? error.message})\n`);
		} catch {
			// Nothing is left to say it on.
		}
		process.exit(1);
	}

	#write(stream: NodeJS.WriteStream, text: string): Promise<void> {
		const written = new Promise<void>((resolve) => {
			stream.write(text, (error) => {
				if (error) this.#unwritable(error);
				resolve();
			});
		});
		this.#writing = this.#writing.then(() => written);
		return written;
	}
}
