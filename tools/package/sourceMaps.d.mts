export function lineMappings(mappings: string): string;
export function thinSourceMaps(folder: string): void;
