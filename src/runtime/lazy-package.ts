// Packages that take time and memory to load, and that a gateway need not have before they are used.

import { createRequire } from 'node:module';

const require = createRequire(import.meta.url);

/**
 * For packages in CommonJS that functions use which cannot wait. Where they can, `await import()` does the same.
 * @typeParam Package `typeof import('name')`
 * @returns a function that returns the package, and loads it when it is called for the first time.
 */
export function lazyPackage<Package>(name: string): () => Package {
  let loaded: Package | undefined;
  return () => {
    loaded ??= require(name) as Package;
    return loaded;
  };
}
