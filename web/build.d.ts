/** Where the sources are, by package.json; empty if it does not say. */
declare const REPOSITORY: string;
