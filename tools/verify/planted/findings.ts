import { appendFileSync, existsSync, readFileSync } from "node:fs";
import type { Bug } from "./bug.ts";

const HEADING = "# contracts ";

/** Which bugs were found and which missed: printed, and kept in a file, so that a run goes on where one ended. */
export class Findings {
  found = 0;
  missed = 0;
  readonly #tried: ReadonlySet<string>;

  /**
   * @param log The file; what stands there of the same contracts and tests is not tried again.
   * @param digest Of the contracts and tests.
   */
  constructor(
    readonly log: string | undefined,
    digest: string,
  ) {
    const text = log !== undefined && existsSync(log) ? readFileSync(log, "utf8") : "";
    const parts = text.split(new RegExp(`^${HEADING}`, "m")).slice(1);
    const own = parts.filter((part) => part.startsWith(digest)).join("");
    this.#tried = new Set([...own.matchAll(/^(?:found  |MISSED ) ([^:\n]+)/gm)].map(([, name]) => name!));
    if (parts.at(-1)?.startsWith(digest) !== true) this.#write(HEADING + digest);
  }

  /** Those bugs that were not tried yet. */
  left<B extends Bug>(bugs: readonly B[]): B[] {
    return bugs.filter(({ name }) => !this.#tried.has(name));
  }

  /** @param by The test that found the bug. */
  add({ name }: Bug, by: string | undefined): void {
    if (by === undefined) this.missed++;
    else this.found++;
    const line = by === undefined ? `MISSED  ${name}` : `found   ${name}: ${by}`;
    console.log(line);
    this.#write(line);
  }

  #write(line: string): void {
    if (this.log !== undefined) appendFileSync(this.log, `${line}\n`);
  }
}
