// What is wrong with the settings of a module.

/** Thrown when a module is made, so that nobody meets it at traffic time. Its text says what would be right. */
export class SettingsError extends Error {
  override readonly name = 'SettingsError';
}
