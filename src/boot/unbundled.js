// Read by bundle.js, which leaves these packages out, and package.js, which ships them beside the bundle.

/** What cannot be bundled: native code, and files that a package finds beside its own. */
export const UNBUNDLED = ['@electric-sql/pglite', '@node-rs/argon2', 'fs-native-extensions'];
