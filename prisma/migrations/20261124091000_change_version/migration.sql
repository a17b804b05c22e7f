-- Counts the writes of configuration, where a bus carries their announcements: a node that has not heard of all of them has lost some.
CREATE SEQUENCE "change_version";
