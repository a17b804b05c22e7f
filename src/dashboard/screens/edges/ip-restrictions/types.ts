// What IP restrictions of an account are about, in words.

export const restrictionTypes: Readonly<Record<string, string>> = {
  endpoints: 'Visitors of all endpoints',
  agent: 'Agents',
  api: 'The API, with keys',
  dashboard: 'The dashboard',
};
