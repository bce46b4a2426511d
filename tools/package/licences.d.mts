export const ALLOWED: readonly string[];
export function packageOf(name: string): string;
export function licenceTexts(files: readonly string[]): string;
