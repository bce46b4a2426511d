import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import type { TypeDocOptions } from "typedoc";
import type { PluginOptions } from "typedoc-plugin-markdown";
import { ROOT } from "./root.ts";

/** An entry of the package, whose page TypeDoc makes. */
type EntryPoint = { name: string; about: string };

/** The entries that have more than data; what one takes over from another stands there. */
export const ENTRY_POINTS: readonly EntryPoint[] = [
  { name: "browser", about: "What requesters of results need, for bundlers: no compiler, nothing of Node." },
  { name: "sdk", about: "What requesters need in Node: all of [refute-ml/browser](browser.md), and this." },
  { name: "node", about: "Compiling, executing, and running a worker or a watcher, in Node." },
];

const TYPEDOC: Partial<TypeDocOptions> = {
  plugin: ["typedoc-plugin-markdown"],
  entryPoints: ENTRY_POINTS.map(({ name }) => join(ROOT, `src/package/${name}.ts`)),
  tsconfig: join(ROOT, "tsconfig.build.json"),
  // `npm run typecheck` looks for errors of types.
  skipErrorChecking: true,
  readme: "none",
  router: "module",
  excludeExternals: true,
  excludePrivate: true,
  excludeReferences: true,
  disableSources: true,
  validation: { notExported: false, invalidLink: true, invalidPath: true },
  // Comments have tags where TypeDoc knows none.
  logLevel: "Error",
};

const MARKDOWN: Partial<PluginOptions> = {
  hidePageHeader: true,
  hideBreadcrumbs: true,
  hidePageTitle: true,
  useCodeBlocks: true,
  expandParameters: true,
  parametersFormat: "table",
  classPropertiesFormat: "table",
  interfacePropertiesFormat: "table",
  typeAliasPropertiesFormat: "table",
  typeDeclarationFormat: "table",
  propertyMembersFormat: "table",
  tableColumnSettings: { hideDefaults: true, hideInherited: true, hideModifiers: true, hideOverrides: true },
};

/**
 * What TypeDoc says of classes that are made by `errorWithCode`, how errors are made, which users only catch, and
 * anchors as HTML: the page has its own.
 */
const NOISE = [
  /^#+ Constructors\n\n#+ Constructor\n\n```ts\nnew \w+Error\([^]*?(?=^#{1,4} |^\*\*\*)/gm,
  /^#+ Extends\n\n- `\(Anonymous class\)`.*\n\n/gm,
  /^#+ (?:Inherited from|Overrides)\n\n.*\n\n/gm,
  /<a id="[^"]*"><\/a> /g,
];

let made: Promise<ReadonlyMap<string, string>> | undefined;

/** What an entry of the package exports, with types and comments. @throws Error if TypeDoc cannot read the sources */
export async function entryPage({ name, about }: EntryPoint): Promise<string> {
  const pages = await (made ??= pagesOfTypeDoc());
  return [`# refute/${name}`, about, pages.get(name)!].join("\n\n");
}

/** All entries are read at once: they share most of what they declare. */
async function pagesOfTypeDoc(): Promise<ReadonlyMap<string, string>> {
  const out = mkdtempSync(join(tmpdir(), "refute-reference-"));
  try {
    // Loaded where it is needed, and as its plugin loads it: one that is required too is there twice.
    const { Application } = await import("typedoc");
    const application = await Application.bootstrapWithPlugins({ ...TYPEDOC, ...MARKDOWN, out });
    const project = await application.convert();
    if (project !== undefined) await application.generateOutputs(project);
    if (application.logger.hasErrors()) throw new Error("TypeDoc cannot read the entries of the package: see above");
    return new Map(ENTRY_POINTS.map(({ name }) => [name, tidied(readFileSync(join(out, `${name}.md`), "utf8"))]));
  } finally {
    rmSync(out, { recursive: true });
  }
}

const tidied = (text: string): string => NOISE.reduce((rest, noise) => rest.replace(noise, ""), text);
