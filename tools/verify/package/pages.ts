import { copyFileSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { build } from "esbuild";
import { browserBinary, reportOf } from "./browser.ts";

/** What a page reports to its server: what `text` gives, once it gives something. */
const reporting = (text: string): string => `<script type="module">
  const timer = setInterval(async () => {
    const text = ${text};
    if (!text) return;
    clearInterval(timer);
    await fetch("/report", { method: "POST", body: text });
  }, 100);
</script>`;

/** The wallet of a browser, of which a development node signs everything. */
const WALLET = `
  const { rpcUrl } = await (await fetch("oracle.json")).json();
  const request = async ({ method, params = [] }) => {
    const asked = method === "eth_requestAccounts" ? "eth_accounts" : method;
    const body = JSON.stringify({ jsonrpc: "2.0", id: 1, method: asked, params });
    const headers = { "content-type": "application/json" };
    const { result, error } = await (await fetch(rpcUrl, { method: "POST", headers, body })).json();
    if (error) throw Object.assign(new Error(error.message), error);
    return result;
  };
  window.ethereum = { request };`;

/**
 * Opens the example's page, and a page that posts a job with a wallet, in a browser. The devnet of the example must
 * run, and must have answered one question.
 * @param example The example's folder, built.
 * @param project The browser project's folder: `checkBrowser` makes it.
 * @throws Error with what a page shows instead of the answer
 */
export async function checkPages(example: string, project: string): Promise<void> {
  const binary = browserBinary();
  if (binary === undefined) return console.log("no page was opened: chromium is not installed");
  const shown = await reportOf(
    binary,
    join(example, "page"),
    reporting(`document.querySelector("#note").innerText &&
    document.body.innerText`),
  );
  if (!/virginica, 9\d\.\d %/.test(shown)) throw new Error(`the example's page shows:\n${shown}`);
  console.log("the example's page shows the answer in a browser");

  const page = join(project, "page");
  mkdirSync(page, { recursive: true });
  const contents = `
    import { ask } from "./main.js";
    ${WALLET}
    const { program, chainId, market } = await (await fetch("oracle.json")).json();
    const deadline = BigInt(Math.floor(Date.now() / 1e3) + 3_600);
    const terms = { fee: 10n ** 17n, window: 20, claimSeconds: 600, deadline };
    ask(program, chainId, market, { features: Float32Array.of(5.1, 3.5, 1.4, 0.2) }, terms).then(
      ([[scores]]) => (window.answer = JSON.stringify(scores)),
      (error) => (window.answer = String(error.stack)),
    );`;
  await build({
    stdin: { contents, resolveDir: project },
    outfile: join(page, "page.js"),
    bundle: true,
    platform: "browser",
    format: "esm",
    logLevel: "warning",
  });
  copyFileSync(join(example, "page", "oracle.json"), join(page, "oracle.json"));
  writeFileSync(join(page, "index.html"), `<!doctype html><script type="module" src="page.js"></script>`);
  const answer = await reportOf(binary, page, reporting("window.answer"));
  if (!/^\[\{"index":0,"score":0\.9\d+,"label":"setosa"\}/.test(answer))
    throw new Error(`the page that asks: ${answer}`);
  console.log("a page posts a job with a wallet and decodes the answer in a browser");
}
