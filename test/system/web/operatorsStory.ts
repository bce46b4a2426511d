import type { Browser } from "puppeteer-core";
import { goTo, picture, resize, textOf, waitForText, watchedPage } from "./browser.ts";
import { inspect } from "./inspect.ts";

/** Metrics of a worker that is in trouble, with a label that is markup. */
const METRICS = `
refute_info{role="watcher",version="0.1.0",chain="31337",market="0x1234567890123456789012345678901234567890"} 1
refute_condition{name="rounds"} 1
refute_condition{name="pays"} 0
refute_condition{name="account"} 1
refute_condition{name="<img src=x onerror=alert(1)>"} 0
refute_last_round_timestamp_seconds 1700000000
refute_events_total{kind="submitted"} 31
refute_events_total{kind="finalised"} 29
refute_events_total{kind="moved"} 6
refute_gas_total{kind="submitted"} 3100000
refute_gas_total{kind="finalised"} 1200000
refute_gas_total{kind="moved"} 330000
refute_open_claims 2
refute_open_games 1
refute_least_clock_seconds 3321
refute_head_lag_seconds 9
refute_gas_price_wei 1.5e9
refute_events_total{kind="differs"} 1
refute_balance_wei 4.2e18
refute_credit_wei 6.1e17
refute_stake_wei 3.6e18
refute_locked_stake_wei 1.8e18
refute_attestation_seconds 86400
refute_execution_seconds_bucket{le="0.1"} 12
refute_execution_seconds_bucket{le="0.3"} 25
refute_execution_seconds_bucket{le="1"} 31
refute_execution_seconds_bucket{le="+Inf"} 31
refute_execution_seconds_sum 5.2
refute_execution_seconds_count 31
refute_rpc_errors_total{node="https://node",reason="timeout"} 3
`;

/**
 * The operators' page: metrics that are fetched, and such as are none.
 * @throws Error if something is not shown, or a label becomes markup
 */
export async function operatorsStory(browser: Browser, site: string, pictures: string): Promise<void> {
  const { page, problems } = await watchedPage(browser);
  await resize(page, { width: 1_280, height: 900 });
  await page.setRequestInterception(true);
  page.on("request", (request) => {
    const isMetrics = new URL(request.url()).pathname === "/monitor/9464";
    void (isMetrics ? request.respond({ body: METRICS, contentType: "text/plain" }) : request.continue());
  });
  await page.goto(`${site}/#/node?metrics=./monitor/9464`);
  await waitForText(page, "not ready: 2 conditions");
  await waitForText(page, "A watcher");
  await waitForText(page, "the money does not cover what is open");
  await waitForText(page, "1.5 gwei");
  await waitForText(page, "the most important event");
  await waitForText(page, /Age of the newest block\s+9 s/);
  await waitForText(page, /Last good round\s+[\d,]+ days ago/);
  if ((await textOf(page)).includes("npm run")) throw new Error("a static page tells of commands of the repository");
  const made = await page.evaluate(`document.querySelectorAll("main img").length`);
  if (made !== 0 || !(await textOf(page)).includes("<img src=x")) throw new Error("a label became markup");
  await picture(page, `${pictures}/operators.png`);
  await inspect(page, "the operators' page", pictures);
  // A link to the page by its former name.
  await goTo(page, "#/operators?metrics=./icon.svg");
  await waitForText(page, "These are not the metrics of Refute");
  if (problems.length > 0) throw new Error(`in the operators' page: ${problems.join("; ")}`);
}
