import { existsSync } from "node:fs";
import { delimiter, join } from "node:path";

/** The browsers by kind, as puppeteer names the kinds. */
export const BROWSERS = {
  chrome: { title: "Chromium", programs: ["chromium", "chromium-browser", "google-chrome"] },
  firefox: { title: "Firefox", programs: ["firefox-esr", "firefox"] },
};

export type BrowserKind = keyof typeof BROWSERS;

/** A browser of this machine. @returns undefined if there is none of this kind */
export const browserBinary = (kind: BrowserKind = "chrome"): string | undefined =>
  (process.env.PATH ?? "")
    .split(delimiter)
    .flatMap((folder) => BROWSERS[kind].programs.map((name) => join(folder, name)))
    .find((path) => existsSync(path));
