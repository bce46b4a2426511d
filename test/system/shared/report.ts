import { spawn } from "node:child_process";
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { killAtExit } from "../../../src/deploy/devnet/killAtExit.ts";
import { serveFolder } from "./serveFolder.ts";

/** Milliseconds in which a page must have reported. */
const LIMIT_MS = 90_000;

/**
 * Opens `index.html` of a folder in a browser without a window.
 * @param added HTML that is put at the page's end. It must POST the page's report, a text, to `/report`.
 * @returns The report.
 * @throws Error if none comes, with what the browser printed
 */
export async function reportOf(binary: string, folder: string, added: string): Promise<string> {
  const profile = mkdtempSync(join(tmpdir(), "refute-browser-"));
  let take: (report: string) => void;
  const report = new Promise<string>((resolve) => (take = resolve));
  const server = await serveFolder(folder, { added, onReport: (text) => take(text) });
  const flags = ["--headless=new", "--no-sandbox", "--disable-gpu", "--enable-logging=stderr"];
  const browser = spawn(binary, [...flags, `--user-data-dir=${profile}`, `${server.url}/index.html`]);
  killAtExit(browser);
  let printed = "";
  browser.stderr.on("data", (chunk: Buffer) => (printed += chunk.toString()));
  const ended = new Promise((resolve) => browser.once("close", resolve));
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    const fail = (): void => reject(new Error(`the page reported nothing: ${printed.slice(-2_000)}`));
    timer = setTimeout(fail, LIMIT_MS);
    void ended.then(fail);
    browser.once("error", reject);
  });
  try {
    return await Promise.race([report, late]);
  } finally {
    clearTimeout(timer);
    browser.kill("SIGKILL");
    server.close();
    await ended;
    rmSync(profile, { recursive: true, force: true, maxRetries: 5 });
  }
}
