import fs from "node:fs";
import { syncBuiltinESMExports } from "node:module";
import { basename, dirname, join } from "node:path";

/** The kernel's quoting in a trust domain: returns a quote for 64 bytes. */
export type Quoting = (reportData: Uint8Array) => Uint8Array;

/**
 * Imitates the kernel's configfs in this process, below a folder. Each subfolder acts as a request: reading `outblob`
 * returns a quote for the bytes in `inblob`. Removing a subfolder also removes its files, like in the kernel.
 * @returns a function that ends the imitation
 */
export function imitateKernel(folder: string, quoting: () => Quoting): () => void {
  const { readFileSync, rmdirSync } = fs;
  const isRequest = (path: unknown): path is string => typeof path === "string" && dirname(path) === folder;
  fs.readFileSync = ((path: never, ...rest: never[]) =>
    typeof path === "string" && basename(path) === "outblob" && isRequest(dirname(path))
      ? quoting()(readFileSync(join(dirname(path), "inblob")))
      : readFileSync(path, ...rest)) as typeof readFileSync;
  fs.rmdirSync = ((path: never, ...rest: never[]) =>
    isRequest(path) ? fs.rmSync(path, { recursive: true }) : rmdirSync(path, ...rest)) as typeof rmdirSync;
  syncBuiltinESMExports();
  return () => {
    Object.assign(fs, { readFileSync, rmdirSync });
    syncBuiltinESMExports();
  };
}
