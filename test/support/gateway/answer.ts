// What an answer is about.

/**
 * What the only root field of a document gives; of a mutation, the first member of its payload, with what is shown once beside it.
 * @param document begins with `mutation` if it is one.
 */
// biome-ignore lint/suspicious/noExplicitAny: what a test expects of an answer, the test says.
export function answerOf(document: string, data: object): any {
  const [given] = Object.values(data);
  if (!/^\s*mutation\b/.test(document)) return given;
  const [[, about] = [], ...once] = Object.entries(given as object);
  return once.length > 0 ? { ...about, ...Object.fromEntries(once) } : about;
}
