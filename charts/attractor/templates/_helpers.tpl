{{/* Each takes a dictionary with `root`, and `name` or `spec` of a container. */}}

{{- define "attractor.selector" -}}
app.kubernetes.io/name: attractor
app.kubernetes.io/instance: {{ .root.Release.Name }}
app.kubernetes.io/component: {{ .name }}
{{- end }}

{{- define "attractor.labels" -}}
{{ include "attractor.selector" . }}
app.kubernetes.io/version: {{ .root.Chart.AppVersion | quote }}
app.kubernetes.io/managed-by: {{ .root.Release.Service }}
helm.sh/chart: {{ .root.Chart.Name }}-{{ .root.Chart.Version }}
{{- end }}

{{- define "attractor.image" -}}
{{- with .root.Values.image.registry }}{{ . }}/{{ end }}{{ .image }}:{{ .root.Values.image.tag | default .root.Chart.AppVersion }}
{{- end }}

{{/* What every pod has in common. `user` is that of the image. */}}
{{- define "attractor.pod" -}}
automountServiceAccountToken: false
enableServiceLinks: false
{{- with .root.Values.image.pullSecrets }}
imagePullSecrets: {{ toJson . }}
{{- end }}
securityContext:
  runAsNonRoot: true
  runAsUser: {{ .user }}
  runAsGroup: {{ .user }}
  fsGroup: {{ .user }}
  fsGroupChangePolicy: OnRootMismatch
  seccompProfile: { type: RuntimeDefault }
{{- end }}

{{- define "attractor.confined" -}}
securityContext:
  allowPrivilegeEscalation: false
  readOnlyRootFilesystem: {{ not .writesItsImage }}
  capabilities: { drop: [ALL] }
{{- end }}

{{- define "attractor.environment" -}}
{{- $root := .root -}}
{{- range $name, $value := .spec.environment }}
- { name: {{ $name }}, value: {{ $value | quote }} }
{{- end }}
{{- range $name := .spec.settings }}
{{- $value := index $root.Values.settings $name }}
{{- if and (not $value) $root.Values.trial.enabled }}
{{- $value = index $root.Values.trial.settings $name | default "" }}
{{- end }}
{{- if and (not $value) (eq $name "PUBLIC_URL") $root.Values.ingress.enabled }}
{{- $value = printf "https://%s" $root.Values.ingress.host }}
{{- end }}
{{- if has $name (list "TOKEN_PUBLIC_KEYS" "S3_ENDPOINT") }}
{{- $value = required (printf "set settings.%s" $name) $value }}
{{- end }}
{{- if $value }}
- { name: {{ $name }}, value: {{ $value | quote }} }
{{- end }}
{{- end }}
{{- end }}

{{- define "attractor.resources" -}}
resources:
  requests: { cpu: {{ .cpu.request | quote }}, memory: {{ .memory.request }} }
  limits: { cpu: {{ .cpu.limit | quote }}, memory: {{ .memory.limit }} }
{{- end }}

{{- define "attractor.mounts" -}}
{{- range .volumes }}
- { name: {{ .name }}, mountPath: {{ .path }}, readOnly: {{ .readOnly | default false }} }
{{- end }}
{{- end }}

{{/* A container of the table, without its probes. */}}
{{- define "attractor.container" -}}
name: {{ .name }}
image: {{ include "attractor.image" (dict "root" .root "image" .spec.image) }}
imagePullPolicy: {{ .root.Values.image.pullPolicy }}
args: {{ toJson .spec.command }}
{{ include "attractor.confined" .spec }}
env:
{{- include "attractor.environment" . | nindent 2 }}
{{ include "attractor.resources" .spec }}
volumeMounts:
{{- include "attractor.mounts" .spec | nindent 2 }}
{{- if .spec.secrets }}
  - { name: secrets, mountPath: /run/secrets, readOnly: true }
{{- end }}
{{- end }}

{{/* The volumes of several containers (`specs`), each once. */}}
{{- define "attractor.volumes" -}}
{{- $root := .root -}}
{{- $seen := dict -}}
{{- range .specs }}
{{- range .volumes }}
{{- if not (hasKey $seen .name) }}
{{- $_ := set $seen .name true }}
{{- $claim := index $root.Values.claims (.claim | default "") }}
- name: {{ .name }}
{{- if .memory }}
  emptyDir: { medium: Memory, sizeLimit: {{ .memory }} }
{{- else if $claim }}
  persistentVolumeClaim: { claimName: {{ $claim }}, readOnly: true }
{{- else }}
  emptyDir: { sizeLimit: {{ .size | default "1Mi" }} }
{{- end }}
{{- end }}
{{- end }}
{{- end }}
{{- end }}

{{/* The volume of secret files: `secrets` maps a file to its key. A key that may be missing does not hold up the pod. */}}
{{- define "attractor.secrets" -}}
{{- $given := .root.Values.secrets -}}
{{- $required := list }}{{ $optional := list }}
{{- range $file, $key := .secrets }}
{{- $item := dict "key" $key "path" $file }}
{{- if has $key $given.optional }}{{ $optional = append $optional $item }}{{ else }}{{ $required = append $required $item }}{{ end }}
{{- end }}
- name: secrets
  projected:
    defaultMode: 0440
    sources:
      - secret: { name: {{ $given.name }}, items: {{ toJson $required }} }
{{- if $optional }}
      - secret: { name: {{ $given.name }}, optional: true, items: {{ toJson $optional }} }
{{- end }}
{{- end }}
