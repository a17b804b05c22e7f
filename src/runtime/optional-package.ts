// Packages that are installed only where a setting needs them.

/**
 * Awaits what loads an optional package.
 * @param setting the variable that needs it.
 * @throws {Error} with a message for people when the package is not installed, and whatever else it rejects with.
 */
export async function withOptionalPackage<T>(setting: string, loading: Promise<T>): Promise<T> {
  return loading.catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'ERR_MODULE_NOT_FOUND') throw error;
    throw new Error(
      `${setting} needs a package that is not installed; run "npm install" without --omit=optional. ${error.message}`,
    );
  });
}
