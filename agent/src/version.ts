// Which agent this is.

import description from '../package.json' with { type: 'json' };

export const version = description.version;
