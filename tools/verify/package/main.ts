/**
 * `npm run pack:check`: packs the package twice, looks at what is in it, installs it into empty projects and uses it.
 * It fetches the packages that such projects install from the registry.
 */
import { mkdtempSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { checkExample } from "./example.ts";
import { contentProblems, pack, run, sizesByFolder } from "./pack.ts";
import { checkBrowser, checkContracts, checkInstall, checkTypes, checkUse, type Measured } from "./projects.ts";

const folder = mkdtempSync(join(tmpdir(), "refute-package-"));
try {
  process.exitCode = await check();
} finally {
  rmSync(folder, { recursive: true, force: true });
}

async function check(): Promise<number> {
  // What is bundled under a licence that is not allowed ends the build.
  run(process.execPath, ["tools/build.mjs"]);
  const packed = pack(join(folder, "first"));
  const again = pack(join(folder, "second"));
  console.log(`${packed.sha256}  ${packed.files.length} files, ${kilobytes(packed.size)}`);
  for (const [name, bytes] of sizesByFolder(packed.files)) console.log(`  ${kilobytes(bytes).padStart(9)}  ${name}`);
  const problems = contentProblems(packed.files);
  if (again.sha256 !== packed.sha256) problems.push(`packed twice: ${packed.sha256} and ${again.sha256}`);
  const { file } = packed;
  const measured = checkInstall(file, folder);
  await checkUse(folder);
  checkTypes(file, folder);
  checkContracts(file, folder);
  measured.push(...(await checkBrowser(file, folder)));
  await checkExample(file, folder);
  for (const figure of measured) console.log(measuredLine(figure));
  for (const problem of problems) console.error(problem);
  return problems.length === 0 ? 0 : 1;
}

function kilobytes(bytes: number): string {
  return `${(bytes / 1e3).toFixed(1)} kB`;
}

function measuredLine({ what, value, bar, unit }: Measured): string {
  const verdict = value < bar ? "below" : "NOT below";
  return `${what}: ${value.toFixed(value < 10 ? 2 : 0)} ${unit}, ${verdict} ${bar} ${unit}`;
}
