import { existsSync, readdirSync } from "node:fs";
import { join } from "node:path";
import { errorWithCode } from "../../base/errors.ts";
import { refusalText } from "../../base/regularFile.ts";
import { dataSets, runCase, type CaseResult } from "./runCase.ts";

/** A folder that cannot be read, or holds no ONNX backend case. */
class CaseFolderError extends errorWithCode("CASE_FOLDER") {}

/** A case with its folder's name. */
export type NamedResult = CaseResult & { name: string };

/**
 * Returns the cases in a folder: the folder itself and every folder below, at any depth, with a model and data.
 * @throws CaseFolderError if no case exists.
 */
function casesIn(folder: string): string[] {
  let names: string[];
  try {
    names = readdirSync(folder, { recursive: true, encoding: "utf8" });
  } catch (cause) {
    throw new CaseFolderError(`cannot read the folder ${folder}: it ${refusalText(cause)}`, { cause });
  }
  const cases = ["", ...names].filter(
    (name) => existsSync(join(folder, name, "model.onnx")) && dataSets(join(folder, name)).length > 0,
  );
  if (cases.length === 0)
    throw new CaseFolderError(`${folder} holds no ONNX backend case: a folder of model.onnx and test_data_set_0`);
  return cases.sort();
}

/**
 * Runs the cases in a folder.
 * @param onResult Called after each case.
 * @param isWanted Decides by a case's name and place in the sorted list whether the case runs; by default all cases
 *   run.
 */
export async function runFolder(
  folder: string,
  onResult: (result: NamedResult, done: number, total: number) => void = () => undefined,
  isWanted: (name: string, number: number) => boolean = () => true,
): Promise<NamedResult[]> {
  const results: NamedResult[] = [];
  const cases = casesIn(folder).filter(isWanted);
  for (const name of cases) {
    const result = { name, ...(await runCase(join(folder, name))) };
    results.push(result);
    onResult(result, results.length, cases.length);
  }
  return results;
}

/** How many cases ended how. */
export function countKinds(results: readonly CaseResult[]): Record<CaseResult["kind"], number> {
  const count = (kind: CaseResult["kind"]): number => results.filter((result) => result.kind === kind).length;
  return { passed: count("passed"), failed: count("failed"), refused: count("refused") };
}
