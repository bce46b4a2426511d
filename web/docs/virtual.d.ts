/** The documentation as `render/plugin.ts` writes it while the site is built. */
declare module "virtual:refute-docs" {
  export const PAGES: readonly {
    name: string;
    title: string;
    /** Its HTML, which has the tags of Markdown only. */
    load: () => Promise<{ default: string }>;
  }[];
}
