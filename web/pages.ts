import type { ComponentType } from "preact";
import type { PageProps } from "./pageProps.ts";

/**
 * A page of the site: the first part of a route's path names it. Its code is fetched when it is opened. A page without
 * a place in the bar is reached by the site's name.
 */
export type Page = { name: string; title: string; isFirst?: true; load: () => Promise<ComponentType<PageProps>> };

export const PAGES: readonly [Page, ...Page[]] = [
  {
    name: "start",
    title: "Start",
    isFirst: true,
    load: async () => (await import("./landing/startPage.tsx")).StartPage,
  },
  {
    name: "explorer",
    title: "Explorer",
    load: async () => (await import("./explorer/explorerPage.tsx")).ExplorerPage,
  },
  {
    name: "playground",
    title: "Playground",
    load: async () => (await import("./playground/playgroundPage.tsx")).PlaygroundPage,
  },
  {
    name: "text",
    title: "Text",
    load: async () => (await import("./text/textPage.tsx")).TextPage,
  },
  {
    name: "node",
    title: "My node",
    load: async () => (await import("./operators/operatorsPage.tsx")).OperatorsPage,
  },
  {
    name: "docs",
    title: "Docs",
    load: async () => (await import("./docs/docsPage.tsx")).DocsPage,
  },
];
