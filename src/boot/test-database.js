// The PostgreSQL server of tests, benchmarks and demos.

const PROBE_MS = 1000;
const DEFAULT_URL = 'postgresql://postgres@127.0.0.1:5432/test';

/** The URL of the server's database, from `TEST_DATABASE_URL`. */
export const testDatabaseUrl = () => process.env.TEST_DATABASE_URL || DEFAULT_URL;

/**
 * @param {string} url
 * @returns {Promise<string | undefined>} the reason why there is no PostgreSQL server for tests; undefined when there is one.
 */
export async function probe(url) {
  const { default: pg } = await import('pg');
  const client = new pg.Client({ connectionString: url, connectionTimeoutMillis: PROBE_MS });
  // A connection that breaks later emits an error event, which would end the process without a listener.
  client.on('error', () => {});
  const server = `${client.host}:${client.port}`;
  try {
    await client.connect();
    await client.end();
    return undefined;
  } catch (error) {
    // A refusal of the server has an SQLSTATE.
    const refusal = error instanceof pg.DatabaseError ? error.message : undefined;
    return refusal ? `${server} refuses: ${refusal}` : `nothing answers at ${server}`;
  }
}
