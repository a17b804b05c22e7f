// What a request for logs may have in it, by opentelemetry-proto (collector/logs/v1, logs/v1, common/v1, resource/v1), and
// a reader of its JSON mapping that is not ours: it refuses unknown members and values of the wrong form.

import { create, createFileRegistry, fromJson, type JsonValue, toJson } from '@bufbuild/protobuf';
import { FileDescriptorProtoSchema, FileDescriptorSetSchema } from '@bufbuild/protobuf/wkt';

type Field = readonly [name: string, number: number, type: string];

const messages: Record<string, readonly Field[]> = {
  ExportLogsServiceRequest: [['resource_logs', 1, '*ResourceLogs']],
  ResourceLogs: [
    ['resource', 1, 'Resource'],
    ['scope_logs', 2, '*ScopeLogs'],
    ['schema_url', 3, 'STRING'],
  ],
  Resource: [
    ['attributes', 1, '*KeyValue'],
    ['dropped_attributes_count', 2, 'UINT32'],
  ],
  ScopeLogs: [
    ['scope', 1, 'InstrumentationScope'],
    ['log_records', 2, '*LogRecord'],
    ['schema_url', 3, 'STRING'],
  ],
  InstrumentationScope: [
    ['name', 1, 'STRING'],
    ['version', 2, 'STRING'],
    ['attributes', 3, '*KeyValue'],
  ],
  LogRecord: [
    ['time_unix_nano', 1, 'FIXED64'],
    ['severity_number', 2, 'INT32'],
    ['severity_text', 3, 'STRING'],
    ['body', 5, 'AnyValue'],
    ['attributes', 6, '*KeyValue'],
    ['dropped_attributes_count', 7, 'UINT32'],
    ['flags', 8, 'FIXED32'],
    ['observed_time_unix_nano', 11, 'FIXED64'],
    ['event_name', 12, 'STRING'],
  ],
  KeyValue: [
    ['key', 1, 'STRING'],
    ['value', 2, 'AnyValue'],
  ],
  AnyValue: [
    ['string_value', 1, 'STRING'],
    ['bool_value', 2, 'BOOL'],
    ['int_value', 3, 'INT64'],
    ['double_value', 4, 'DOUBLE'],
  ],
};

const fieldOf = ([name, number, type]: Field) => {
  const bare = type.replace('*', '');
  const label = type.startsWith('*') ? 'LABEL_REPEATED' : 'LABEL_OPTIONAL';
  const kind =
    bare in messages ? { type: 'TYPE_MESSAGE', typeName: `.otlp.${bare}` } : { type: `TYPE_${bare}`, typeName: '' };
  const jsonName = name.replace(/_([a-z])/g, (_, letter: string) => letter.toUpperCase());
  return { name, number, label, jsonName, ...kind };
};

const file = fromJson(FileDescriptorProtoSchema, {
  name: 'otlp.proto',
  package: 'otlp',
  syntax: 'proto3',
  messageType: Object.entries(messages).map(([name, fields]) => ({ name, field: fields.map(fieldOf) })),
});
const registry = createFileRegistry(create(FileDescriptorSetSchema, { file: [file] }));
const request = registry.getMessage('otlp.ExportLogsServiceRequest');

/** @throws unless it is the JSON of a request for logs. @returns the same, as a writer of protobuf has it. */
export function readLogsRequest(json: unknown): JsonValue {
  if (!request) throw new Error('the request is not among the messages');
  return toJson(request, fromJson(request, json as JsonValue));
}
