// The version of the agent, from its package.json.

import description from '../package.json' with { type: 'json' };

export const version = description.version;
