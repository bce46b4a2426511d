import { commandsPage } from "./commands.ts";
import { contractsPage } from "./contracts.ts";
import { ENTRY_POINTS, entryPage } from "./entries.ts";
import { httpPage } from "./http.ts";
import type { DocPage } from "./site.ts";

/** The pages that are made from the code, each when it is asked for. */
export const REFERENCE: readonly DocPage[] = [
  { name: "commands", title: "Commands", path: "commands.md", markdown: commandsPage },
  ...ENTRY_POINTS.map((entry) => ({
    name: `refute-${entry.name}`,
    title: `refute/${entry.name}`,
    path: `${entry.name}.md`,
    markdown: () => entryPage(entry),
  })),
  { name: "contracts", title: "Contracts", path: "contracts.md", markdown: contractsPage },
  { name: "http", title: "A worker of Refute, over HTTP", path: "http.md", markdown: httpPage },
];
