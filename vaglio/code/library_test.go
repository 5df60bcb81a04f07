package code_test

import (
	"strings"
	"testing"
)

// TestLibraries checks what programs do through libraries: the programs that they run through a
// library's names, and the services that they change.
func TestLibraries(t *testing.T) {
	t.Parallel()
	for _, tt := range []struct{ language, program, want string }{
		{"python3", "import sh\nsh.git.push('--force', 'origin', 'main')", "git push --force origin main"},
		{"python3", "from sh import kubectl as k\nk.delete('namespace', 'prod', force=True, grace_period='0')", "kubectl delete namespace prod --force --grace-period"},
		{"python3", "from plumbum import local\nlocal['aws']['s3', 'rm', 's3://a']()", "aws s3 rm s3://a"},
		{"python3", "from plumbum.cmd import git\ngit['push', '--force'] & 1", "git push --force"},
		{"python3", "from git import Repo\nRepo('.').git.push('--force')", "git push --force"},
		{"python3", "from git import Repo\nRepo('.').remotes.origin.push(force=True)", "git push --force"},
		{"python3", "from git import Repo\nRepo('.').remotes.origin.push()", ""},
		{"node", "const git = require('simple-git')()\ngit.push('origin', 'main', ['--force'])", "git push origin main --force"},
		{"node", "require('shelljs').rm('-rf', 'a')", "rm -rf a"},
		{"node", "import $ from 'https://deno.land/x/dax/mod.ts'\nawait $`rm -rf a`", "rm -rf a"},
		{"ruby", "TTY::Command.new.run('aws', 's3', 'rm', 's3://a')", "aws s3 rm s3://a"},
		{"ruby", "App.new.run('a', 'b')", ""},
		{"python3", "import paramiko\nparamiko.SSHClient().exec_command('rm -rf a')", "ssh $(paramiko.SSHClient().exec_command) rm -rf a; rm -rf a"},
		{"python3", "import boto3\nc = boto3.client('ec2')\nc.terminate_instances()", "python:boto3.client().terminate_instances"},
		{"python3", "import boto3\nboto3.client('s3', endpoint_url='http://localhost:4566').delete_bucket()", "python:boto3.client(localhost).delete_bucket"},
		{"python3", "import boto3\n{'a': boto3.client('s3')}['a'].delete_bucket()", "python:boto3.client().delete_bucket"},
		{"python3", "import shutil\n{'a': shutil.rmtree}['a']('/b')", "python:shutil.rmtree /b"},
		{"python3", "import shutil\nexec(\"d = '/b'\")\nshutil.rmtree(d)", "python:shutil.rmtree /b"},
		{"node", "const fs = require('fs')\nclass A { clean(d) { fs.rmSync(d) } }\nnew A().clean('/b')", "node:fs.rmSync /b"},
		{"python3", "import a\na.rmtree()", "python:a.rmtree"}, // of what is not known
		{"python3", "'f'.rmtree()", "python:rmtree"},
		{"python3", "d = dict(p='b')\nopen(d['p'], 'w')", "python:open b"},
		{"ruby", "['f'].each(&:exit)\nFile.delete('b')", "ruby:File.delete b"},
		{"python3", "{'a': open}['a']('f', 'w')", "python:open f"},
		{"python3", "from pathlib import Path\nPath('b').rmtree()", "python:rmtree b"},
		{"python3", "import boto3\nvars()['c'].delete_bucket()", ""}, // of a file, only what is known
		{"python3", "import boto3\ndef handler(c):\n    boto3.client('s3').delete_bucket()\n", ""},
		{"python3", "import boto3\ndef main():\n    boto3.client('s3').delete_bucket()\nmain()", "python:boto3.client().delete_bucket"},
		{"python3", "def f(c):\n    c.delete_bucket()\nf(1)", ""},
		{"python3", "import psycopg2\npsycopg2.connect('host=a').cursor().execute('DROP TABLE a')", "python:psycopg2.connect().cursor().execute DROP TABLE a"},
		{"python3", "import psycopg2\npsycopg2.connect('host=a').cursor().execute('SELECT 1 FROM a')", ""},
		{"node", "import {S3Client, DeleteBucketCommand} from '@aws-sdk/client-s3'\nnew S3Client({}).send(new DeleteBucketCommand({}))", "node:@aws-sdk.client-s3.DeleteBucketCommand"},
		{"node", "const m = require('mongodb')\nconst c = new m.MongoClient(x)\nc.connect().then(() => c.db('a').dropDatabase())", "node:mongodb.MongoClient().db().dropDatabase"},
		{"node", "const m = require('mongodb')\nconst c = new m.MongoClient(x)\napp.delete('/a', () => c.db('a').dropDatabase())", ""},
	} {
		var got []string
		for _, c := range read(t, tt.language+" - <<'EOF'\n"+tt.program+"\nEOF\n").Commands {
			if c.Name != tt.language {
				var words []string
				for _, w := range c.Argv {
					words = append(words, w.String())
				}
				got = append(got, strings.Join(words, " "))
			}
		}
		if got := strings.Join(got, "; "); got != tt.want {
			t.Errorf("%s:\n got %s\nwant %s", tt.program, got, tt.want)
		}
	}
}
