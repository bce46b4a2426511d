/** A place in the documentation: a page, or a section of it. */
export type Entry = {
  title: string;
  /** The name of the page, as addresses have it. */
  page: string;
  /** The anchor of a heading on the page. */
  section?: string;
};

/** Entries in the order in which somebody reads them. */
export type Chapter = { title: string; about: string; entries: readonly Entry[] };

const entry = (page: string, title: string, section?: string): Entry => ({
  title,
  page,
  ...(section !== undefined && { section }),
});

/** What each of the three users reads, and in which order. */
const PATHS: readonly Chapter[] = [
  {
    title: "For workers",
    about: "You execute models and are paid for it.",
    entries: [
      entry("operating", "What the machine must have", "what-the-machine-must-have"),
      entry("operating", "Keys", "keys"),
      entry("operating", "Models to serve", "models"),
      entry("operating", "Credit and stake", "credit-and-stake"),
      entry("operating", "Running a worker", "a-worker"),
      entry("provisioning", "The device of a worker"),
      entry("operating", "Unattended", "unattended"),
    ],
  },
  {
    title: "For watchers",
    about: "You compute again, dispute what is wrong, and are paid by whoever lied.",
    entries: [
      entry("operating", "Running a watcher", "a-watcher"),
      entry("operating", "What both sides do", "what-both-do"),
      entry("operating", "Delegations", "delegations"),
      entry("operating", "Monitoring", "monitoring"),
      entry("economics", "What watching costs and earns"),
      entry("security", "What is trusted, and what is tried"),
    ],
  },
  {
    title: "For dapps",
    about: "You ask a model from a script, a page or a contract, and rely on the answer.",
    entries: [
      entry("sdk", "Building on Refute"),
      entry("sdk", "In a browser", "browsers"),
      entry("sdk", "From a contract", "contracts"),
      entry("iris", "A whole example"),
      entry("operating", "What a job costs", "a-jobs-fee"),
    ],
  },
];

/** The documentation as it is read. */
export const OUTLINE: readonly Chapter[] = [
  {
    title: "Start",
    about: "What this is, and your own model in ten minutes.",
    entries: [
      entry("overview", "What Refute is"),
      entry("quickstart", "Quickstart: your own model"),
      entry("faq", "Questions and answers"),
      entry("overview", "Compared with other approaches", "compared-with-other-approaches"),
      entry("glossary", "Glossary"),
    ],
  },
  ...PATHS,
  {
    title: "Models",
    about: "What can be computed exactly.",
    entries: [entry("operators", "Operators"), entry("operatorTable", "Table of operators")],
  },
  {
    title: "How it works",
    about: "From a move of the game to a bit of a sum.",
    entries: [
      entry("protocol", "The protocol, move by move"),
      entry("program", "The program, byte by byte"),
      entry("numerics", "Numerics"),
      entry("architecture", "Architecture"),
    ],
  },
  {
    title: "Figures",
    about: "What was measured.",
    entries: [entry("performance", "Performance"), entry("gas", "Gas"), entry("testing", "Testing")],
  },
  {
    title: "Extras",
    about: "The path from a model to a dispute needs none of these.",
    entries: [
      entry("decoders", "Text from language models"),
      entry("training", "Training"),
      entry("dispatch", "Large batches"),
      entry("large-data", "Large inputs and outputs"),
      entry("fleet", "A fleet"),
      entry("tickets", "Answers off chain, paid by tickets"),
      entry("panels", "One question to several workers"),
      entry("decisions", "Decisions"),
      entry("native", "Native execution"),
    ],
  },
  {
    title: "Deploying and developing",
    about: "For whoever runs a market, or changes this.",
    entries: [
      entry("deploying", "Deploying to a network"),
      entry("developing", "Developing Refute"),
      entry("dependencies", "Dependencies"),
      entry("web", "This site"),
      entry("reporting", "Reporting a vulnerability"),
    ],
  },
  {
    title: "Reference",
    about: "Made from the code.",
    entries: [
      entry("cli", "The command line"),
      entry("commands", "Commands"),
      entry("refute-browser", "refute-ml/browser"),
      entry("refute-sdk", "refute-ml/sdk"),
      entry("refute-node", "refute-ml/node"),
      entry("contracts", "Contracts"),
      entry("http", "A worker over HTTP"),
    ],
  },
];

/** The chapters for the three users. */
export const isPath = (chapter: Chapter): boolean => PATHS.includes(chapter);

/** The documentation as it is read, and at its end pages that have no place in it yet. @param pages All pages */
export function chapters(pages: readonly { name: string; title: string }[]): readonly Chapter[] {
  const named = new Set(OUTLINE.flatMap(({ entries }) => entries.map(({ page }) => page)));
  const entries = pages.filter(({ name }) => !named.has(name)).map(({ name, title }) => entry(name, title));
  return entries.length === 0 ? OUTLINE : [...OUTLINE, { title: "More", about: "Newer pages.", entries }];
}
