import { MissingPackageError } from "../base/optionalPackage.ts";

/** Names a package needed by only some commands, if a part of the program does not load without the package. */
export const missingPackage =
  (name: string) =>
  (cause: unknown): never => {
    if ((cause as NodeJS.ErrnoException).code !== "ERR_MODULE_NOT_FOUND") throw cause;
    throw new MissingPackageError(`this command needs another package: npm install ${name}`, { cause });
  };
