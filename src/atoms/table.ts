/** The atoms of an anchor as columns (CONTRACT section 5). */
import { float64, uint8, uint32 } from "../session/columns.js";

const ATOM_KINDS = [
	"user",
	"assistant",
	"tool_exchange",
	"bash",
	"orphan_result",
	"block",
	"summary",
	"custom",
	"other",
] as const;
export type AtomKind = (typeof ATOM_KINDS)[number];

const PROTOCOLS = ["none", "closed", "abandoned", "ambiguous", "orphan"] as const;
export type Protocol = (typeof PROTOCOLS)[number];

/** Why an atom is protected, in order of precedence (RULINGS 15). */
export const REASONS = [
	"ambiguous_tool_protocol",
	"orphan_result",
	"unsupported_kind",
	"missing_entry",
	"committed_block",
] as const;
export type Reason = (typeof REASONS)[number];
const NO_REASON = 255;

export const SOURCES = ["user", "assistant", "tool_call", "tool_result"] as const;
/** What `locate_search` can filter by: whose words or data an atom holds. */
export type Source = (typeof SOURCES)[number];

export const ATOM = {
	/** Sent to the model; an unsent atom counts as atom and messages, but not in chars, tokens and images of groups and totals. */
	SENT: 1,
	/** An exchange whose records also hold the user's own words or images. */
	USER_TEXT: 2,
	/** User text that the host wrote. */
	HOST: 4,
	/** Leads a group. */
	LEADS: 8,
} as const;

const REF = /^a(\d{4,})$/;

export class AtomTable {
	readonly kind = uint8();
	readonly protocol = uint8();
	readonly reason = uint8();
	readonly marks = uint8();
	/** Bit i is set when the atom holds {@link SOURCES}[i]. */
	readonly sources = uint8();
	/** Atom i is made of the messages `messageStart[i] … messageStart[i + 1] - 1` of the list it was built from. */
	readonly messageStart = uint32();
	/** Own figures, sent or not. */
	readonly chars = float64();
	readonly images = uint32();
	readonly imageBytes = float64();

	constructor() {
		this.messageStart.push(0);
	}

	get length(): number {
		return this.kind.length;
	}

	push(atom: {
		kind: AtomKind;
		protocol: Protocol;
		reason: Reason | null;
		marks: number;
		sources: number;
		messageEnd: number;
		chars: number;
		images: number;
		imageBytes: number;
	}): void {
		this.kind.push(ATOM_KINDS.indexOf(atom.kind));
		this.protocol.push(PROTOCOLS.indexOf(atom.protocol));
		this.reason.push(atom.reason === null ? NO_REASON : REASONS.indexOf(atom.reason));
		this.marks.push(atom.marks);
		this.sources.push(atom.sources);
		this.messageStart.push(atom.messageEnd);
		this.chars.push(atom.chars);
		this.images.push(atom.images);
		this.imageBytes.push(atom.imageBytes);
	}

	kindOf(atom: number): AtomKind {
		return ATOM_KINDS[this.kind.at(atom)];
	}

	protocolOf(atom: number): Protocol {
		return PROTOCOLS[this.protocol.at(atom)];
	}

	/** Null: the atom is compressible. */
	reasonOf(atom: number): Reason | null {
		const code = this.reason.at(atom);
		return code === NO_REASON ? null : REASONS[code];
	}

	has(atom: number, mark: number): boolean {
		return (this.marks.at(atom) & mark) !== 0;
	}

	holds(atom: number, source: Source): boolean {
		return (this.sources.at(atom) & (1 << SOURCES.indexOf(source))) !== 0;
	}

	/** `a0001` for the first atom. */
	refOf(atom: number): string {
		return `a${String(atom + 1).padStart(4, "0")}`;
	}

	/** Index of a ref; -1 when it is none of this table. */
	indexOf(ref: string): number {
		const found = REF.exec(ref);
		if (!found) return -1;
		const index = Number(found[1]) - 1;
		return index >= 0 && index < this.length && this.refOf(index) === ref ? index : -1;
	}
}
