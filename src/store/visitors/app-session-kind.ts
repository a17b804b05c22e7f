/** The kind of visitors' sessions in the change feed, and the prefix of their ids. */
export const APP_SESSION_KIND = 'appSession';
export const APP_SESSION_PREFIX = 'apps';
