import { copyFileSync, mkdirSync, writeFileSync } from "node:fs";
import { join } from "node:path";
import { build } from "esbuild";
import { reportOf } from "../shared/report.ts";

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

/** What the example's page shows. The devnet of the example must run, and must have answered one question. */
export const textOfExamplePage = (binary: string, example: string): Promise<string> =>
  reportOf(
    binary,
    join(example, "page"),
    reporting(`document.querySelector("#note").innerText && document.body.innerText`),
  );

/**
 * The answer that a page gets for a job that it posts with a wallet.
 * @param example The example's folder, of which the devnet runs.
 * @param project The browser project's folder: `bundledPage` makes it.
 */
export async function answerOfAskingPage(binary: string, example: string, project: string): Promise<string> {
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
  return reportOf(binary, page, reporting("window.answer"));
}
