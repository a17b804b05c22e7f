import { defineConfig } from 'prisma/config';

// `generate`, `validate` and `format` need no engine, yet the command line downloads one unless it is told of a
// program that exists. Any does.
process.env.PRISMA_SCHEMA_ENGINE_BINARY ??= process.execPath;

export default defineConfig({ schema: 'prisma/schema.prisma', migrations: { path: 'prisma/migrations' } });
