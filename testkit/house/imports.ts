import { readFileSync } from "node:fs";
import { dirname, join, normalize } from "node:path";

/** Relative paths in quotes: imports, and files that are named to be started or read. */
const PATHS = /["'`](\.{1,2}\/[^"'`\n]+)["'`]/g;
const IMPORTS = /(?:from|import\(?)\s*"(\.[^"]+)"/g;
const EXPORTS =
  /^export (?:declare )?(?:async )?(?:abstract )?(?:function\*?|const|let|class|type|interface) ([\w$]+)/gm;

const found = (text: string, pattern: RegExp): string[] => [...text.matchAll(pattern)].map(([, group]) => group!);

/** The imports of source files among each other, types included. Paths are relative to the repository's root. */
export class Imports {
  readonly files: readonly string[];
  readonly #texts: ReadonlyMap<string, string>;
  readonly #targets = new Map<string, readonly string[]>();

  constructor(files: readonly string[]) {
    this.files = files;
    this.#texts = new Map(files.map((file) => [file, readFileSync(file, "utf8")]));
    for (const [file, text] of this.#texts) this.#targets.set(file, resolved(file, found(text, IMPORTS)));
  }

  /** The files that a file imports. */
  of(file: string): readonly string[] {
    return this.#targets.get(file) ?? [];
  }

  /**
   * Returns groups of files that import each other, directly or through other files (Tarjan's strongly connected
   * components).
   */
  circles(): string[][] {
    const circles: string[][] = [];
    const order = new Map<string, number>();
    const lowest = new Map<string, number>();
    const open: string[] = [];
    const visit = (file: string): void => {
      const index = order.size;
      order.set(file, index);
      lowest.set(file, index);
      open.push(file);
      for (const target of this.of(file)) {
        if (!this.#targets.has(target)) continue;
        if (!order.has(target)) visit(target);
        if (open.includes(target)) lowest.set(file, Math.min(lowest.get(file)!, lowest.get(target)!));
      }
      if (lowest.get(file) !== index) return;
      const circle = open.splice(open.indexOf(file));
      if (circle.length > 1) circles.push(circle.sort());
    };
    for (const file of this.files) if (!order.has(file)) visit(file);
    return circles;
  }

  /**
   * Returns exports that no other file names, each in the form `file name`.
   * @param isSubject Selects the files whose exports are checked. All files count as users.
   */
  unusedExports(isSubject: (file: string) => boolean): string[] {
    const words = new Map([...this.#texts].map(([file, text]) => [file, new Set(text.match(/[\w$]+/g))]));
    const users = new Map<string, Set<string>>();
    for (const [file, text] of this.#texts)
      for (const target of resolved(file, found(text, PATHS)))
        users.set(target, (users.get(target) ?? new Set()).add(file));
    return this.files.filter(isSubject).flatMap((file) => {
      const others = [...(users.get(file) ?? [])].filter((user) => user !== file);
      return found(this.#texts.get(file)!, EXPORTS)
        .filter((name) => !others.some((user) => words.get(user)!.has(name)))
        .map((name) => `${file} ${name}`);
    });
  }
}

const resolved = (file: string, paths: readonly string[]): string[] => [
  ...new Set(paths.map((path) => normalize(join(dirname(file), path)))),
];
