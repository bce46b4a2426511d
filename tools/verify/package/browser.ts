import { spawn } from "node:child_process";
import { existsSync, mkdtempSync, readFileSync, rmSync } from "node:fs";
import { createServer, type Server } from "node:http";
import type { AddressInfo } from "node:net";
import { tmpdir } from "node:os";
import { delimiter, extname, join } from "node:path";
import { killAtExit } from "../../../src/deploy/devnet/killAtExit.ts";

const NAMES = { chrome: ["chromium", "chromium-browser", "google-chrome"], firefox: ["firefox-esr", "firefox"] };
const TYPES: Record<string, string> = { ".html": "text/html", ".js": "text/javascript", ".json": "application/json" };
/** Milliseconds in which a page must have reported. */
const LIMIT_MS = 90_000;

/** A kind of browser, as puppeteer names it. */
export type BrowserKind = keyof typeof NAMES;

/** A browser of this machine. @returns undefined if there is none of this kind */
export const browserBinary = (kind: BrowserKind = "chrome"): string | undefined =>
  (process.env.PATH ?? "")
    .split(delimiter)
    .flatMap((folder) => NAMES[kind].map((name) => join(folder, name)))
    .find((path) => existsSync(path));

/**
 * Opens `index.html` of a folder in a browser without a window.
 * @param added HTML that is put at the page's end. It must POST the page's report, a text, to `/report`.
 * @returns The report.
 * @throws Error if none comes, with what the browser said
 */
export async function reportOf(binary: string, folder: string, added: string): Promise<string> {
  const profile = mkdtempSync(join(tmpdir(), "refute-browser-"));
  let take: (report: string) => void;
  const report = new Promise<string>((resolve) => (take = resolve));
  const server = await serve(folder, added, (text) => take(text));
  const { port } = server.address() as AddressInfo;
  const flags = ["--headless=new", "--no-sandbox", "--disable-gpu", "--enable-logging=stderr"];
  const browser = spawn(binary, [...flags, `--user-data-dir=${profile}`, `http://127.0.0.1:${port}/index.html`]);
  killAtExit(browser);
  let said = "";
  browser.stderr.on("data", (chunk: Buffer) => (said += chunk.toString()));
  const ended = new Promise((resolve) => browser.once("close", resolve));
  let timer: NodeJS.Timeout | undefined;
  const late = new Promise<never>((_, reject) => {
    const fail = (): void => reject(new Error(`the page reported nothing: ${said.slice(-2_000)}`));
    timer = setTimeout(fail, LIMIT_MS);
    void ended.then(fail);
    browser.once("error", reject);
  });
  try {
    return await Promise.race([report, late]);
  } finally {
    clearTimeout(timer);
    browser.kill("SIGKILL");
    server.closeAllConnections();
    server.close();
    await ended;
    rmSync(profile, { recursive: true, force: true, maxRetries: 5 });
  }
}

function serve(folder: string, added: string, take: (report: string) => void): Promise<Server> {
  const server = createServer((request, response) => {
    const path = new URL(request.url!, "http://localhost").pathname;
    if (path === "/report") {
      let text = "";
      request.on("data", (chunk: Buffer) => (text += chunk.toString()));
      request.on("end", () => {
        response.end();
        take(text);
      });
      return;
    }
    const file = join(folder, path);
    if (!existsSync(file)) return response.writeHead(404).end();
    const content = readFileSync(file);
    response.writeHead(200, { "content-type": TYPES[extname(file)] ?? "application/octet-stream" });
    response.end(extname(file) === ".html" ? content.toString() + added : content);
  });
  return new Promise((resolve) => server.listen(0, "127.0.0.1", () => resolve(server)));
}
