import { commandsPage } from "./commands.ts";
import { contractsPage } from "./contracts.ts";
import { entriesPage } from "./entries.ts";
import { httpPage } from "./http.ts";
import type { DocPage } from "./site.ts";

/** The pages that are made from the code, each when it is asked for. */
export const REFERENCE: readonly DocPage[] = [
  { name: "commands", title: "Commands", path: "commands.md", markdown: commandsPage },
  { name: "package", title: "The package", path: "package.md", markdown: entriesPage },
  { name: "contracts", title: "Contracts", path: "contracts.md", markdown: contractsPage },
  { name: "http", title: "A worker of Refute, over HTTP", path: "http.md", markdown: httpPage },
];
