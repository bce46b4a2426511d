const before = performance.now();
await import(process.argv[2]);
console.log(performance.now() - before);
