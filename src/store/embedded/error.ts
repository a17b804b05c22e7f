/** The embedded database cannot be opened or used; the text says why and what to do, and is meant for an operator. */
export class EmbeddedError extends Error {}
