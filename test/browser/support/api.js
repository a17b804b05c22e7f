/**
 * A client of the GraphQL API that authenticates with an API key, as programs do.
 * @param {string} api
 * @param {string} key
 */
export function apiClient(api, key) {
  return async (/** @type {string} */ query, /** @type {object} */ variables = {}) => {
    const response = await fetch(`${api}/graphql`, {
      method: 'POST',
      headers: { 'Content-Type': 'application/json', Authorization: `Bearer ${key}` },
      body: JSON.stringify({ query, variables }),
    });
    const { data, errors } = /** @type {any} */ (await response.json());
    if (errors) throw new Error(`${query}: ${errors[0].message}`);
    return data;
  };
}
