// Plain Node, no dependency: the compiled contracts that come with the repository, so that the first start compiles
// nothing.
import { createHash } from "node:crypto";
import { existsSync, mkdirSync, readdirSync, readFileSync, writeFileSync } from "node:fs";
import { dirname, join } from "node:path";
import { brotliCompressSync, brotliDecompressSync, constants } from "node:zlib";

/** The file: JSON with the hash and the artifacts, compressed. */
export const PACKED = "ignition/artifacts.br";
/** Where Hardhat notes its own builds. */
const BUILT = "cache/compile-cache.json";
/** The compiler's settings. They are compared as text, so that no dependency is needed. */
const SETTINGS = ["hardhat.config.ts", "tools/verify/builds/build.ts"];
/** The compiler, and the sources that contracts import. The lock file has a hash of each package's contents. */
const PACKAGES = ["solc", "@openzeppelin/contracts"];

/** The path of an artifact, as Hardhat has it. */
export const artifactPath = (source, name) => join("artifacts", source, `${name}.json`);

/**
 * SHA-256 over all that the compiled code follows from. All sources of `contracts` are in it: they are compiled
 * together, and the order of functions depends on every one of them.
 */
export function sourcesHash(root = ".") {
  const hash = createHash("sha256");
  const add = (name, contents) => hash.update(`${name} ${Buffer.byteLength(contents)}\n`).update(contents);
  const contracts = readdirSync(join(root, "contracts"), { recursive: true })
    .map((name) => `contracts/${name.replaceAll("\\", "/")}`)
    .filter((name) => name.endsWith(".sol"));
  for (const file of [...contracts.sort(), ...SETTINGS]) add(file, readFileSync(join(root, file)));
  const { packages } = JSON.parse(readFileSync(join(root, "package-lock.json"), "utf8"));
  for (const name of PACKAGES) add(name, packages[`node_modules/${name}`].integrity);
  return hash.digest("hex");
}

/** Artifacts as the bytes of the file. */
export function packArtifacts(hash, artifacts) {
  const params = { [constants.BROTLI_PARAM_QUALITY]: 11, [constants.BROTLI_PARAM_LGWIN]: 24 };
  return brotliCompressSync(JSON.stringify({ hash, artifacts }), { params });
}

/** The hash and the artifacts that the file has. */
export const readPacked = (root = ".") => JSON.parse(brotliDecompressSync(readFileSync(join(root, PACKED))));

/**
 * Puts the packed artifacts in place. After a build of Hardhat it does nothing: Hardhat would take these artifacts for
 * those of its own build.
 * @returns Whether it did, which it does only where they were compiled from the present sources.
 */
export function unpackArtifacts(root = ".") {
  if (existsSync(join(root, BUILT))) return false;
  const { hash, artifacts } = readPacked(root);
  if (hash !== sourcesHash(root)) return false;
  for (const artifact of artifacts) {
    const path = join(root, artifactPath(artifact.sourceName, artifact.contractName));
    mkdirSync(dirname(path), { recursive: true });
    writeFileSync(path, JSON.stringify(artifact));
  }
  return true;
}
